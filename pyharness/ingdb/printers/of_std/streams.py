"""How streams into and from a text are shown: by that text, of which no debug information of a program says a word.

The layouts are those of libstdc++'s and libc++'s ABI: a vtable each of the stream and of what it derives from, the
count of an input stream, then the buffer with its own vtable, libc++'s locale, and six pointers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.printers.registry import shows
from pyharness.ingdb.printers.texts import quoted
from pyharness.ingdb.tensors.address import type_name
from pyharness.ingdb.tensors.members import address_of

if TYPE_CHECKING:
    from collections.abc import Callable

_BUFFER_AT = {"ostringstream": 1, "istringstream": 2, "stringstream": 3, "stringbuf": 0}
"""Words before the buffer."""
_STREAM = re.compile(
    r"std::(?P<libcxx>__1::)?(?:__cxx11::)?basic_(?P<kind>[io]?stringstream|stringbuf)<(?P<letter>\w+),.*>"
)


@shows(_STREAM.pattern)
def _text_stream(value: gdb.Value) -> str:
    found = _STREAM.fullmatch(type_name(value.type))
    if found is None:
        raise gdb.error("another stream")
    pointer = gdb.lookup_type(found["letter"]).const().pointer()
    words = address_of(value).cast(pointer.pointer()) + _BUFFER_AT[found["kind"]] + 1
    word: Callable[[int], gdb.Value] = (words + (1 if found["libcxx"] else 0)).__getitem__
    first, last, last_read = word(3), word(4), word(2)  # written from, written to
    if not int(first):
        first, last = word(0), last_read
    elif int(last) < int(last_read) <= int(word(5)):  # written to again, from its begin
        last = last_read
    return quoted(first, (int(last) - int(first)) // pointer.target().sizeof)

"""Where the code of a function of the user's begins that is inlined into others, as far as gdb finds it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.functions import asked_places
from pyharness.ingdb.functions.around import functions_around
from pyharness.ingdb.process import libraries
from pyharness.model.user_code import is_user_source
from pyharness.reading.binaries.line_table import Line
from pyharness.reading.functions.function_name import matches
from pyharness.reading.functions.optimization import may_be_optimized

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyharness.ingdb.functions.user_functions import UserFunction

_NAME = re.compile(r"[A-Za-z_]\w*(?:::~?\w+|<.*>)*(?:\(.*\))?")
"""A function, maybe with its parameters. gdb takes much else for a place, and ends where some of it cannot be."""


def may_be(functions: Iterable[UserFunction]) -> bool:
    """Whether the compiler may have inlined one of the functions somewhere."""
    found = ((libraries.library_at(function.entry), function.entry) for function in functions)
    return any(library and may_be_optimized(library.elf, entry - library.bias) for library, entry in found)


def addresses(name: str) -> list[int]:
    """Where to stop in copies of the functions of that name."""
    if not _NAME.fullmatch(name):
        return []
    try:
        places = gdb.decode_line(name)[1] or ()
    except gdb.error:
        return []
    return [place.pc for place in places if _begins_copy(place, name)]


def _begins_copy(place: gdb.Symtab_and_line, name: str) -> bool:
    """Whether a function of the user's of that name, inlined into another, begins at a place; a stop there is in it."""
    file = place.symtab.fullname() if place.symtab else None
    around = [function for function, _ in functions_around(place.pc)]
    inside = next((index for index, each in enumerate(around[:-1]) if matches(each.print_name, name)), None)
    if file is None or inside is None or not is_user_source(file):
        return False
    asked_places.note(Line(place.pc, file, place.line), len(around) - 1 - inside)
    return True

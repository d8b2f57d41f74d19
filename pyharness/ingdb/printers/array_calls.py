"""Elements of other libraries' arrays by their call operator, ``2 * matrix(0, 1)``: from memory, as it is inlined."""

from __future__ import annotations

from typing import Any

import gdb
import gdb.xmethod

from pyharness.ingdb.printers.of_std.methods import NoValueError
from pyharness.ingdb.tensors.address import plain_type
from pyharness.ingdb.tensors.arrays.known import reader_of
from pyharness.ingdb.tensors.function import NATIVE
from pyharness.ingdb.tensors.held import tensor_held
from pyharness.model.tensors.dtypes import BY_NAME
from pyharness.reading.process.memory import UnreadableError

_CALL = "operator()"
_MOST = 6
"""Indices that a call may have."""


def element(this: gdb.Value, *indices: gdb.Value) -> gdb.Value:
    """The element of an array, or of that to which a pointer points; ``NoValueError`` where there is none to read."""
    value = this.dereference() if plain_type(this.type).code == gdb.TYPE_CODE_PTR else this
    try:
        info = tensor_held(value)
    except UnreadableError as error:
        raise NoValueError(str(error)) from error
    if info.unreadable or info.state != "defined" or info.dtype not in NATIVE:
        raise NoValueError(info.unreadable or info.problem or f"gdb has no numbers of {info.dtype}.")
    places = [int(index) for index in indices]
    if len(places) != len(info.sizes):
        raise NoValueError(f"It has {len(info.sizes)} dimension{'s' * (len(info.sizes) != 1)}.")
    if any(not 0 <= place < size for place, size in zip(places, info.sizes)):  # noqa: B905  (3.9)
        raise NoValueError(f"Its sizes are {list(info.sizes)}.")
    offset = sum(map(int.__mul__, places, info.strides)) * BY_NAME[info.dtype].size
    return gdb.Value(info.data + offset).cast(gdb.lookup_type(NATIVE[info.dtype]).pointer()).dereference()


class _Worker(gdb.xmethod.XMethodWorker):
    """The call of an array with so many indices."""

    def __init__(self, count: int) -> None:
        self._count = count

    def get_arg_types(self) -> list[gdb.Type]:
        return [gdb.lookup_type("unsigned long")] * self._count

    def __call__(self, *values: gdb.Value) -> gdb.Value:
        return element(*values)


class _Matcher(gdb.xmethod.XMethodMatcher):
    """The call operator of each class that is read as an array."""

    def __init__(self) -> None:
        super().__init__("pyharness::arrays")
        self.methods = [gdb.xmethod.XMethod(_CALL)]

    def match(self, class_type: gdb.Type, method: str) -> Any:
        """What gdb calls."""
        if method != _CALL or not class_type.tag or reader_of(class_type.tag) is None:
            return None
        return [_Worker(count) for count in range(1, _MOST + 1)]


def register() -> None:
    """Have gdb ask for call operators."""
    known: list[Any] = vars(gdb)["xmethods"]  # gdb's annotations do not have it
    known.append(_Matcher())

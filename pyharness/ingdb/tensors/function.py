"""$ph_elements(TENSOR): a tensor's elements as an array of gdb's, in its shape: to index, print, or open in an IDE."""

from __future__ import annotations

import itertools
import struct
from math import prod
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb import torch_process
from pyharness.ingdb.tensors.address import plain_type
from pyharness.ingdb.tensors.elements import element_reader
from pyharness.ingdb.tensors.held import holds_tensor, tensor_held
from pyharness.reading.process.memory import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyharness.model.tensors.tensor import TensorInfo

_FUNCTION = "$ph_elements"
NATIVE = {"float32": "float", "float64": "double", "int64": "long", "int32": "int", "int16": "short", "bool": "bool"}
"""Types that gdb prints as torch does; others are converted, the first ``_MAX_CONVERTED`` elements."""
_MAX_CONVERTED = 4096


def elements(value: gdb.Value) -> gdb.Value:
    """The elements of a tensor; ``gdb.GdbError`` where there are none to be read."""
    if not holds_tensor(plain_type(value.type)):
        raise gdb.GdbError(f"{_FUNCTION} wants a tensor, not {value.type}.")
    try:
        return array_of(tensor_held(value))
    except (UnreadableError, OSError, OverflowError) as error:
        raise gdb.GdbError(f"This tensor cannot be read: {error}") from error


def array_of(info: TensorInfo) -> gdb.Value:
    """The elements of a tensor that was read, as an array."""
    if info.state != "defined" or info.unreadable or not info.numel:
        reason = (
            info.unreadable or info.problem or ("it is empty" if info.state == "defined" else f"it is {info.state}")
        )
        raise gdb.GdbError(f"This tensor has no elements that can be shown: {reason}.")
    as_they_lie = info.is_contiguous and info.dtype in NATIVE and not info.negated
    return _in_place(info) if as_they_lie else _converted(info)


def _array(code: str, name: str, numbers: Sequence[float], sizes: Sequence[int] = ()) -> gdb.Value:
    """An array that is in gdb only; of the shape ``sizes``, or flat."""
    return gdb.Value(struct.pack(f"{len(numbers)}{code}", *numbers), _shaped(name, sizes or (len(numbers),)))


def _shaped(name: str, sizes: Sequence[int]) -> gdb.Type:
    kind = gdb.lookup_type(name)
    for size in reversed(sizes):
        kind = kind.array(size - 1)
    return kind


def _in_place(info: TensorInfo) -> gdb.Value:
    """The program's own memory: gdb reads what is looked at, and a person can assign to it."""
    return gdb.Value(info.data).cast(_shaped(NATIVE[info.dtype], info.sizes).pointer()).dereference()


def _converted(info: TensorInfo) -> gdb.Value:
    """A copy; flat where it is not whole."""
    element = element_reader(torch_process.read, info)
    places = itertools.product(*map(range, info.sizes))
    whole = prod(info.sizes) <= _MAX_CONVERTED
    found = [element(sum(map(int.__mul__, place, info.strides))) for place in itertools.islice(places, _MAX_CONVERTED)]
    numbers = [complex(one) for one in found if not isinstance(one, str)]
    if len(numbers) < len(found):
        raise UnreadableError("a part of its elements")
    sizes = info.sizes if whole else (len(numbers),)
    if any(number.imag for number in numbers):
        parts = [part for number in numbers for part in (number.real, number.imag)]
        return _array("d", "double", parts, (*sizes, 2))
    return _array("d", "double", [number.real for number in numbers], sizes)


class _Function(gdb.Function):
    """$ph_elements(TENSOR): its elements as an array, such as $ph_elements(input)[0][3]."""

    def __init__(self) -> None:
        super().__init__(_FUNCTION[1:])

    def invoke(self, value: gdb.Value) -> gdb.Value:  # type: ignore[override]  # gdb calls it with what was given
        """What gdb calls."""
        return elements(value)


def register() -> None:
    """Make the function known."""
    _Function()

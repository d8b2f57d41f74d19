"""How torch's loops over tensors are shown: what a ``TensorIterator`` reads, writes and computes in."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb import torch_process
from pyharness.ingdb.printers.registry import shows, text_of
from pyharness.ingdb.tensors.members import address_of
from pyharness.model.frozen import frozen
from pyharness.model.tensors.dtypes import DTYPES

if TYPE_CHECKING:
    from collections.abc import Iterator

# TensorIteratorBase as torch 2.6 to 2.15 have it: no program's debug information has it, for its code is torch's.
_SHAPE, _OPERANDS = 8, 184
_NAMES_ROOM, _NAMES_BYTES = 5, 56
"""While torch had named tensors, the dimensions' names came before the operands: they have room for five at first."""
_SMALL_HEAD, _INLINE_OPERANDS = 16, 4
_COMMON_DTYPE, _IS_REDUCTION = 6, 11
"""Behind the number of outputs, which follows the operands."""
_MAX_COUNT = 64


@frozen
class Loop:
    """What an iterator goes over."""

    shape: tuple[int, ...]
    operands: gdb.Value
    """The first of them."""
    count: int
    outputs: int
    dtype: int
    """In which it computes."""
    reduces: bool


@shows(r"at::TensorIterator(?:Base)?")
def _iterator(value: gdb.Value) -> str:
    loop = loop_of(value)
    kind = "reduces" if loop.reduces else "computes elements"
    known = loop.dtype < min(len(DTYPES), torch_process.tensor_layout().undefined_dtype)
    dtype = f" in {DTYPES[loop.dtype].name}" if known else ""
    counts = f"{_some(loop.outputs, 'output')}, {_some(loop.count - loop.outputs, 'input')}"
    return f"TensorIterator {list(loop.shape)}: {kind}{dtype}, {counts}"


def loop_of(value: gdb.Value) -> Loop:
    """What the iterator has; an error where it has more than can be, so that it was never made."""
    at = int(address_of(value))
    operand = gdb.lookup_type("at::OperandInfo")
    shape = tuple(_numbers(at + _SHAPE))
    (room,) = struct.unpack("<I", torch_process.read(at + _OPERANDS + 12, 4))
    head = at + _OPERANDS + (_NAMES_BYTES if room == _NAMES_ROOM else 0)
    first, count = _head(head)
    behind = head + _SMALL_HEAD + _INLINE_OPERANDS * operand.sizeof
    facts = torch_process.read(behind, 12)
    outputs = int(struct.unpack("<i", facts[:4])[0])
    if not 0 <= outputs <= count:
        raise gdb.error(f"{outputs} outputs of {count} operands")
    operands = gdb.Value(first).cast(operand.pointer())
    return Loop(shape, operands, count, outputs, facts[_COMMON_DTYPE], bool(facts[_IS_REDUCTION]))


def _head(at: int) -> tuple[int, int]:
    """Where the elements of a c10::SmallVector are, and how many."""
    first, count = struct.unpack("<QI", torch_process.read(at, 12))
    if count > _MAX_COUNT:
        raise gdb.error(f"a length of {count}")
    return first, count


def _numbers(at: int) -> Iterator[int]:
    first, count = _head(at)
    return (number for (number,) in struct.iter_unpack("<q", torch_process.read(first, 8 * count) if count else b""))


def _some(count: int, word: str) -> str:
    return f"{count} {word}{'s' * (count != 1)}"


@shows(r"at::OperandInfo")
def _operand(value: gdb.Value) -> str:
    role = "output" if value["is_output"] else "input"
    if value["is_output"] and value["is_read_write"]:
        role = "input and output"
    tensor = text_of(value["tensor_base_"])
    return f"{role}, strides of {text_of(value['stride_bytes'])} bytes: {tensor}"

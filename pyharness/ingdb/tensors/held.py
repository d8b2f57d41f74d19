"""The tensor that a value of C++ is, holds or points to: torch's, or an array of another library."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb import torch_process
from pyharness.ingdb.tensors.address import (
    class_name,
    holds_torch_tensor,
    impl_address,
    is_optional_tensor,
    plain_type,
    referred,
)
from pyharness.ingdb.tensors.arrays.known import reader_of
from pyharness.ingdb.tensors.members import is_in_pieces
from pyharness.ingdb.tensors.reading import tensor_at
from pyharness.model.tensors.tensor import TensorInfo
from pyharness.reading.process.memory import Memory, UnreadableError

if TYPE_CHECKING:
    from pyharness.ingdb.tensors.arrays.known import Read


_LOST = "optimized out"


class LostError(UnreadableError):
    """The compiler has kept nothing of what says where the elements are."""


def holds_tensor(kind: gdb.Type) -> bool:
    """Whether a value of this type is a tensor, holds exactly one, or points to one of those."""
    return holds_torch_tensor(kind) or reader_of(class_name(kind)) is not None


def may_hold_tensor(kind: gdb.Type) -> bool:
    """Whether a value of this type `holds_tensor`, or is an optional of a tensor, or points to one."""
    return holds_tensor(kind) or is_optional_tensor(kind)


def tensor_held(value: gdb.Value) -> TensorInfo:
    """The tensor of a value that `holds_tensor`; ``UnreadableError`` where none can be read."""
    read = reader_of(class_name(value.type))
    if read is None:
        memory = Memory(torch_process.read)
        return tensor_at(memory, impl_address(memory, value), torch_process.tensor_layout())
    try:
        return _array(value, read)
    except (gdb.error, RuntimeError) as error:  # of template arguments that are not there it is a RuntimeError
        raise (LostError if _LOST in str(error) else UnreadableError)(str(error)) from error


def _array(value: gdb.Value, read: Read) -> TensorInfo:
    """An array of another library, which a pointer may point to."""
    if is_in_pieces(value):
        raise LostError("it is in no memory")
    value = referred(value)
    if plain_type(value.type).code != gdb.TYPE_CODE_PTR:
        return read(value)
    return read(referred(value.dereference())) if int(value) else TensorInfo(0, state="null")

"""Where the DLTensor of a value is: of DLPack's classes, and of nanobind's ``ndarray``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.ingdb import torch_process
from pyharness.ingdb.tensors.address import plain_type
from pyharness.ingdb.tensors.members import address_of
from pyharness.reading.process.memory import Memory
from pyharness.reading.tensors.dlpack import dl_tensor_at

if TYPE_CHECKING:
    import gdb

    from pyharness.model.tensors.tensor import TensorInfo

DLPACK = "(?:DLTensor|DLManagedTensor(?:Versioned)?|nanobind::dlpack::dltensor|nanobind::ndarray<.*>)"
_MEMBERS = ("dl_tensor", "m_dltensor")


def dl_tensor(value: gdb.Value) -> TensorInfo:
    """The tensor that a value of a class of `DLPACK` is, or has."""
    names = {field.name for field in plain_type(value.type).fields()}
    member = next((name for name in _MEMBERS if name in names), "")
    whole = value[member] if member else value
    return dl_tensor_at(Memory(torch_process.read), int(address_of(whole)))

"""The tensor that a value of C++ is, holds or points to: torch's, or one of DLPack's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.ingdb import torch_process
from pyharness.ingdb.tensors.address import dl_tensor_address, impl_address, is_dlpack
from pyharness.ingdb.tensors.reading import tensor_at
from pyharness.model.tensors.tensor import TensorInfo
from pyharness.reading.process.memory import Memory
from pyharness.reading.tensors.dlpack import dl_tensor_at

if TYPE_CHECKING:
    import gdb


def tensor_held(value: gdb.Value) -> TensorInfo:
    """The tensor of a value that `holds_tensor`; ``UnreadableError`` where none can be read."""
    memory = Memory(torch_process.read)
    if not is_dlpack(value.type):
        return tensor_at(memory, impl_address(memory, value), torch_process.tensor_layout())
    address = dl_tensor_address(value)
    return dl_tensor_at(memory, address) if address else TensorInfo(0, state="null")

"""Reads one autograd node from memory alone: its class and its sequence number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.frames import AutogradNode
from pyharness.reading.functions.cxx_class import class_name
from pyharness.reading.process.memory import Memory, UnreadableError

if TYPE_CHECKING:
    from pyharness.reading.tensors.layout import TensorLayout

_GENERATED = "torch::autograd::generated::"
_PYTHON = "torch::autograd::PyNode"
# PyObject.ob_type and PyTypeObject.tp_name: the same in every CPython with the GIL
_OB_TYPE, _TP_NAME = 8, 24


def read_node(memory: Memory, address: int, layout: TensorLayout) -> AutogradNode:
    """The ``torch::autograd::Node`` at ``address``, named as ``grad_fn.name()`` names it; never raises."""
    name = class_name(memory, address)
    if name is None:
        return AutogradNode("<unreadable node>", None, address)
    if name == _PYTHON:
        name = _python_name(memory, address, layout) or name
    try:
        sequence: int | None = memory.unsigned(address + layout.node_sequence)
    except UnreadableError:
        sequence = None
    # AccumulateGrad and others that belong to no forward op have the largest number (UINT64_MAX).
    if sequence is not None and sequence >= 1 << 62:
        sequence = None
    return AutogradNode(name.removeprefix(_GENERATED), sequence, address)


def _python_name(memory: Memory, address: int, layout: TensorLayout) -> str | None:
    """Name of the Python class of a node that `torch.autograd.Function` made."""
    try:
        kind = memory.pointer(memory.pointer(address + layout.node_object) + _OB_TYPE)
        name = memory.text(memory.pointer(kind + _TP_NAME), 200)
    except UnreadableError:
        return None
    return name if name.isprintable() and name else None

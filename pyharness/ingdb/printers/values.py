"""Any gdb value as one line of text, and any gdb value or address as a tensor."""

from __future__ import annotations

import re

import gdb

from pyharness.ingdb import torch_process
from pyharness.ingdb.printers import pointees, registry
from pyharness.ingdb.printers.of_torch import inductor_handles, ivalues
from pyharness.ingdb.printers.of_torch.torch_types import engaged
from pyharness.ingdb.tensors.format import one_line
from pyharness.ingdb.tensors.held import LostError, holds_tensor, tensor_held
from pyharness.ingdb.tensors.reading import read_tensor
from pyharness.ingdb.time_limit import limited
from pyharness.model.tensors.tensor import TensorInfo
from pyharness.reading.process.memory import Memory, UnreadableError
from pyharness.reading.python import values as python_values

_PYTHON_TENSORS = frozenset({"torch._C.TensorBase", "torch._C._TensorBase"})
# The same in every CPython with the GIL, from 3.8 to 3.15: PyObject, and its type's tp_name and tp_base.
_OB_TYPE, _HEAD, _TP_NAME, _TP_BASE = 8, 16, 24, 256
_MAX_BASES = 20
_EMPTY_BASE = re.compile(r'"(?:[^"\\]|\\.)*"|<[^"{}=]+> = \{<No data fields>\}(?:, )?')
"""A text, in which everything is as it is, or a base class without members."""
_MAX_LENGTH = 2000


def value_text(value: gdb.Value) -> str:
    """One line for any value: tensors and torch's small types from memory, all else as gdb prints it."""
    try:
        with limited():
            text = registry.text_of(value)
            if pointee := pointees.pointee_text(value):
                text = f"{text} → {pointee}"
    except gdb.error as error:
        text = f"<{error}>"
    text = _without_empty_bases(re.sub(r"\s*\n\s*", " ", text))
    return text if len(text) <= _MAX_LENGTH else text[:_MAX_LENGTH] + "…"


def _without_empty_bases(text: str) -> str:
    """A class as gdb prints it, less the base classes that have no members: those of CRTP, tags, allocators."""
    before = ""
    while before != text:
        before, text = text, _EMPTY_BASE.sub(lambda found: found[0] if found[0].startswith('"') else "", text)
    return text


def tensor_of(value: gdb.Value) -> TensorInfo | None:
    """The tensor that a value is, holds or points to, be it C++ or a ``PyObject *``; ``None`` where it is none."""
    try:
        found = tensor_of_cxx(value)
        if found is not None:
            return found
        address = _as_address(value)
        return tensor_of_python(address) if address else None
    except (UnreadableError, gdb.error) as error:
        return TensorInfo(0, state="corrupt", problem=str(error))


def tensor_of_cxx(value: gdb.Value) -> TensorInfo | None:
    """The tensor that a C++ value is, holds or points to; ``None`` where it is none."""
    try:
        if holds_tensor(value.type):
            return tensor_held(value)
        inner = engaged(value)
        if inner is None:
            inner = inductor_handles.tensor_in(value)
        if inner is None:
            inner = ivalues.held_tensor(value)
        return tensor_of_cxx(inner) if inner is not None else None
    except LostError:
        return None
    except UnreadableError as error:
        return TensorInfo(0, state="corrupt", problem=str(error))


def tensor_at(address: int) -> TensorInfo:
    """The tensor whose TensorImpl is at ``address``."""
    return read_tensor(torch_process.read, address, torch_process.tensor_layout())


def _as_address(value: gdb.Value) -> int:
    kind = value.type.strip_typedefs()
    return int(value) if kind.code in {gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_INT} else 0


def tensor_of_python(address: int) -> TensorInfo | None:
    """The tensor of the Python object at ``address``, ``None`` where that is no tensor."""
    memory = Memory(torch_process.read)
    if not _PYTHON_TENSORS.intersection(_type_names(memory, address)):
        return None
    return tensor_at(memory.pointer(address + _HEAD + torch_process.tensor_layout().python_tensor))


def _type_names(memory: Memory, address: int) -> list[str]:
    """Names of an object's type and its bases; fewer where that is no object."""
    found: list[str] = []
    try:
        kind = memory.pointer(address + _OB_TYPE)
        while kind and len(found) < _MAX_BASES:
            found.append(memory.text(memory.pointer(kind + _TP_NAME), 200))
            kind = memory.pointer(kind + _TP_BASE)
    except UnreadableError:
        pass
    return found


def _python_tensor(values: python_values.Values, address: int, names: tuple[str, ...]) -> str | None:
    """How a Python tensor looks among the local variables of a Python frame."""
    if not _PYTHON_TENSORS.intersection(names):
        return None
    held = values.memory.pointer(address + _HEAD + torch_process.tensor_layout().python_tensor)
    return one_line(torch_process.read, tensor_at(held))


def show_python_tensors() -> None:
    """Have our stacks show the tensors among the variables of Python frames."""
    python_values.hook(_python_tensor)

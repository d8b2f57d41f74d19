"""What stands behind the address of a pointer: what it points to, where that is of a class that has a printer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.printers import registry
from pyharness.ingdb.tensors.address import plain_type, referred
from pyharness.ingdb.tensors.held import holds_tensor, tensor_held
from pyharness.ingdb.tensors.members import CLASSES
from pyharness.reading.process.memory import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator

_CONTEXT = "torch::autograd::AutogradContext"


def pointee_text(value: gdb.Value) -> str:
    """What a raw pointer points to, in a line; empty for a class of the user's, which expands, and where none is."""
    kind = plain_type(value.type)
    if kind.code != gdb.TYPE_CODE_PTR or holds_tensor(kind):
        return ""
    target = plain_type(kind.target())
    if target.code not in CLASSES or not target.fields():
        return ""
    try:
        pointer = referred(value)
        return _text(pointer.dereference(), target.name or "") if int(pointer) else ""
    except (gdb.error, UnreadableError):
        return ""


def _text(value: gdb.Value, name: str) -> str:
    if name == _CONTEXT:
        return _context(value)
    value.fetch_lazy()
    has_printer = registry.find(value) is not None or registry.printer_of(value) is not None
    return registry.text_of(value) if has_printer else ""


def _context(value: gdb.Value) -> str:
    """What a ``ctx`` keeps between the forward and the backward of a function."""
    kept = [*_elements(value["to_save_"]), *(each["data_"] for each in _elements(value["saved_variables_"]))]
    data = registry.text_of(value["saved_data"]).partition(" = ")[2]
    saves = f"saves {', '.join(map(_shape, kept)) or 'no tensor'}"
    return f"{saves}, saved_data {data}" if data else saves


def _elements(vector: gdb.Value) -> Iterator[gdb.Value]:
    first, last = vector["_M_impl"]["_M_start"], vector["_M_impl"]["_M_finish"]
    count = int(last - first)
    if not 0 <= count < registry.MAX_LENGTH:
        raise gdb.error("a corrupt vector")
    return ((first + index).dereference() for index in range(min(count, registry.Room.elements)))


def _shape(value: gdb.Value) -> str:
    info = tensor_held(value)
    return f"{info.dtype} {list(info.sizes)}" if info.state == "defined" else "an undefined tensor"

"""How the variables of inductor's wrappers in C++ are shown: as the tensors that they own or name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.ingdb.printers.registry import holds, inside, shows, text_of
from pyharness.ingdb.tensors.address import type_name

if TYPE_CHECKING:
    import gdb

_OWNING = "torch::aot_inductor::RAIIAtenTensorHandle"
_CONSTANT = "torch::aot_inductor::ConstantHandle"


@holds(_OWNING)
@holds(_CONSTANT)
def _tensor(value: gdb.Value) -> gdb.Value | None:
    handle = value["handle_"]
    return handle if type_name(value.type) == _CONSTANT else inside(handle)


@shows(_OWNING)
@shows(_CONSTANT)
def _shown(value: gdb.Value) -> str:
    held = _tensor(value)
    return "empty" if held is None else text_of(held)


def tensor_in(value: gdb.Value) -> gdb.Value | None:
    """What such a handle owns or names; ``None`` where it is none, or empty."""
    return _tensor(value) if type_name(value.type) in {_OWNING, _CONSTANT} else None

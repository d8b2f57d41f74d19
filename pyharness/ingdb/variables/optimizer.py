"""Optimizers of torch's C++ frontend as variables: groups of parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.ingdb import torch_process
from pyharness.ingdb.printers.values import tensor_at
from pyharness.ingdb.variables.items import Item, Listed
from pyharness.ingdb.variables.module import object_of_value
from pyharness.ingdb.variables.tensor import tensor_item
from pyharness.model.variable import Variable
from pyharness.reading.functions.cxx_class import class_name
from pyharness.reading.process.memory import Memory, UnreadableError
from pyharness.reading.tensors.cxx_optimizer import ParameterGroup, groups_at

if TYPE_CHECKING:
    import gdb

_OPTIMIZER = "torch::optim::Optimizer"
_LIBRARY = "torch::optim::"


def optimizer_item(name: str, value: gdb.Value, evaluate: str | None = None) -> Item | None:
    """The optimizer that a value is, points to or holds; ``None`` where it is none, or cannot be read."""
    memory = Memory(torch_process.read)
    address = object_of_value(value, _OPTIMIZER)
    if not address:
        return None
    try:
        groups = groups_at(memory, address)
    except UnreadableError:
        return None
    made = (class_name(memory, address) or _OPTIMIZER).removeprefix(_LIBRARY)
    said = _line(groups[0]) if len(groups) == 1 else f"{len(groups)} groups: {'; '.join(map(_line, groups))}"
    shown = Variable(name, f"{made}({said})", str(value.type), memory=f"{address:#x}", evaluate=evaluate)
    if len(groups) == 1:
        return Item(shown, _parameters(groups[0]))
    listed = (
        Item(Variable(f"group {number}", _line(group)), _parameters(group)) for number, group in enumerate(groups)
    )
    return Item(shown, Listed(listed))


def _line(group: ParameterGroup) -> str:
    count = len(group.parameters)
    rate = "" if group.learning_rate is None else f"lr={group.learning_rate:g}, "
    return f"{rate}{count} parameter{'s' * (count != 1)}"


def _parameters(group: ParameterGroup) -> Listed:
    return Listed(tensor_item(f"[{number}]", tensor_at(each)) for number, each in enumerate(group.parameters))

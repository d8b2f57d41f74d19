"""Optimizers of torch's C++ frontend as variables: groups of parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.ingdb import torch_process
from pyharness.ingdb.printers.values import tensor_at
from pyharness.ingdb.variables.items import Item, Listed
from pyharness.ingdb.variables.of_torch.module import object_of_value
from pyharness.ingdb.variables.tensor import tensor_item
from pyharness.model.variable import Variable
from pyharness.reading.functions.cxx_class import class_name
from pyharness.reading.process.memory import Memory, UnreadableError
from pyharness.reading.tensors.cxx_optimizer import ParameterGroup, groups_at, learning_rate

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
        lines = [_line(memory, group) for group in groups]
    except UnreadableError:
        return None
    made = (class_name(memory, address) or _OPTIMIZER).removeprefix(_LIBRARY)
    said = lines[0] if len(groups) == 1 else f"{len(groups)} groups: {'; '.join(lines)}"
    shown = Variable(name, f"{made}({said})", str(value.type), memory=f"{address:#x}", evaluate=evaluate)
    if len(groups) == 1:
        return Item(shown, _parameters(groups[0]))
    each = enumerate(zip(groups, lines, strict=True))
    return Item(shown, Listed(Item(Variable(f"group {n}", line), _parameters(group)) for n, (group, line) in each))


def _line(memory: Memory, group: ParameterGroup) -> str:
    count = len(group.parameters)
    of_torch = group.options and (class_name(memory, group.options) or "").startswith(_LIBRARY)
    rate = f"lr={learning_rate(memory, group.options):g}, " if of_torch else ""
    return f"{rate}{count} parameter{'s' * (count != 1)}"


def _parameters(group: ParameterGroup) -> Listed:
    return Listed(tensor_item(f"[{number}]", tensor_at(each)) for number, each in enumerate(group.parameters))

"""Modules of torch's C++ frontend as variables: parameters, buffers and submodules by name, then the members."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb import torch_process
from pyharness.ingdb.printers import registry
from pyharness.ingdb.printers.values import tensor_at
from pyharness.ingdb.tensors.address import plain_type, referred
from pyharness.ingdb.variables.items import Content, Item
from pyharness.ingdb.variables.tensor import tensor_item
from pyharness.model.variable import Variable
from pyharness.reading.functions.cxx_class import class_name, classes
from pyharness.reading.process.memory import Memory, UnreadableError
from pyharness.reading.tensors.cxx_module import CxxModule, module_at

if TYPE_CHECKING:
    from collections.abc import Iterator

_MODULE = "torch::nn::Module"
_HOLDER = "torch::nn::ModuleHolder<"
_POINTERS = ("std::shared_ptr<", "std::unique_ptr<", _HOLDER)
_CLASSES = frozenset({gdb.TYPE_CODE_STRUCT})
_LIBRARY, _IMPL = "torch::nn::", "Impl"
_ALIGNED = 8
_MOST_BASES = 4
_SEVERAL = 3
"""Things that a line names; of more it says how many."""


def module_of_value(value: gdb.Value) -> int:
    """Address of the module that a value is, points to or holds; 0 where it is none."""
    return object_of_value(value, _MODULE)


def object_of_value(value: gdb.Value, base: str) -> int:
    """Address of the object of that class, or one that derives from it, that a value is, points to or holds; or 0."""
    kind = plain_type(value.type)
    memory = Memory(torch_process.read)
    try:
        if kind.code == gdb.TYPE_CODE_PTR:
            address = int(referred(value)) if plain_type(kind.target()).code in _CLASSES else 0
        elif kind.code in _CLASSES and (place := referred(value).address) is not None:
            address = memory.pointer(int(place)) if _points(kind) else int(place)
        else:
            return 0
        return address if address and address % _ALIGNED == 0 and base in classes(memory, address) else 0
    except (gdb.error, UnreadableError):
        return 0


def inner(value: gdb.Value, evaluate: str | None) -> tuple[gdb.Value, str | None]:
    """The object of the module that a value is, points to or holds, as debug information has it, and its expression."""
    value, expression = referred(value), evaluate
    if _points(plain_type(value.type)):
        if registry.inside(value) is None:
            value, expression = value["impl_"], f"{evaluate}.impl_"
        return registry.inside(value) or value, f"(*{expression})" if evaluate else None
    return value, evaluate


def _points(kind: gdb.Type) -> bool:
    """Whether a class is a smart pointer, or a module's holder, which has nothing else."""
    for _ in range(_MOST_BASES):
        if (kind.name or "").startswith(_POINTERS):
            return True
        first = next(iter(kind.fields()), None)
        if first is None or not first.is_base_class or first.type is None:
            return False
        kind = plain_type(first.type)
    return False


def module_item(
    name: str, address: int, kind: str = "", evaluate: str | None = None, members: Content | None = None
) -> Item | None:
    """The module at ``address``; ``None`` where it cannot be read. ``members``: what debug information knows of it."""
    memory = Memory(torch_process.read)
    try:
        module = module_at(memory, address)
    except UnreadableError:
        return None
    made = class_name(memory, address) or _MODULE
    line = f"{_class(made)}({_inside(module)})" + ("" if module.training else " in eval mode")
    shown = Variable(name, line, kind or made, memory=f"{address:#x}", evaluate=evaluate)
    return Item(shown, _ModuleContent(module, members))


class _ModuleContent(Content):
    """What a module expands into."""

    def __init__(self, module: CxxModule, members: Content | None) -> None:
        self._module = module
        self._members = members
        counts = map(len, (module.parameters, module.buffers, module.children))
        self.named = 1 + sum(counts) + (members is not None)

    def named_items(self, start: int, stop: int) -> list[Item]:
        """Submodules, parameters, buffers, each by its name, whether it trains, and the members."""
        return list(self._items())[start:stop]

    def _items(self) -> Iterator[Item]:
        for name, address in self._module.children:
            found = module_item(name, address) if address else None
            yield found or Item(Variable(name, "<unreadable>" if address else "nullptr"))
        for name, address in (*self._module.parameters, *self._module.buffers):
            yield tensor_item(name, tensor_at(address))
        yield Item(Variable("training", str(self._module.training).lower()))
        if self._members is not None:
            yield Item(Variable("members", ""), self._members)


def _inside(module: CxxModule) -> str:
    """``weight [3, 4], bias [3]``; of a module with others ``linear: Linear, drop: Dropout, scale [3]``."""
    memory = Memory(torch_process.read)
    children = [f"{name}: {_class(class_name(memory, address) or '?')}" for name, address in module.children]
    tensors = [f"{name} {_shape(address)}" for name, address in (*module.parameters, *module.buffers)]
    return ", ".join([*_first(children, "submodules"), *_first(tensors, "tensors")])


def _first(texts: list[str], called: str) -> list[str]:
    return [*texts[:_SEVERAL], *([f"… {len(texts)} {called}"] if len(texts) > _SEVERAL else [])]


def _class(name: str) -> str:
    """``Linear`` of ``torch::nn::LinearImpl``, ``own::Net`` of ``own::NetImpl``: as one writes it."""
    return name.removeprefix(_LIBRARY).removesuffix(_IMPL)


def _shape(address: int) -> str:
    info = tensor_at(address)
    return str(list(info.sizes)) if info.state == "defined" else info.state

"""Autograd nodes as variables: inputs, saved tensors, next functions, sequence number, the line that made them."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb import torch_process
from pyharness.ingdb.autograd.saved import saved_tensors
from pyharness.ingdb.stack.backtrace import current_python
from pyharness.ingdb.tensors.address import plain_type, referred
from pyharness.ingdb.variables.items import Content, Item, Listed
from pyharness.model.node_variables import created_variable, sequence_variable
from pyharness.model.tensors.text import name_of
from pyharness.model.variable import Variable
from pyharness.reading.autograd.graph import read_node
from pyharness.reading.autograd.inputs import inputs_of
from pyharness.reading.autograd.origin import origin_of
from pyharness.reading.functions.cxx_class import classes
from pyharness.reading.process.memory import Memory, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator

_NODE = "torch::autograd::Node"
_EDGE = "torch::autograd::Edge"
MAX_EDGES = 1000
_CLASSES = frozenset({gdb.TYPE_CODE_STRUCT})


def node_of_value(value: gdb.Value) -> int:
    """Address of the node that a value is, points to or holds; 0 where it is none."""
    kind = plain_type(value.type)
    name = kind.name or ""
    try:
        if kind.code == gdb.TYPE_CODE_PTR:
            return node_at(int(value)) if plain_type(kind.target()).code in _CLASSES else 0
        place = referred(value).address
        if name.startswith(("std::shared_ptr<", "c10::intrusive_ptr<", "std::unique_ptr<")) or name == _EDGE:
            return node_at(Memory(torch_process.read).pointer(int(place))) if place is not None else 0
        return node_at(int(place)) if kind.code in _CLASSES and place is not None else 0
    except (gdb.error, UnreadableError):
        return 0


def node_at(address: int) -> int:
    """``address`` if a node lies there, else 0."""
    return address if address % 8 == 0 and _NODE in classes(Memory(torch_process.read), address) else 0


def node_item(
    name: str, address: int, kind: str = "", evaluate: str | None = None, fields: Content | None = None
) -> Item:
    """The node at ``address``; ``fields`` are its members where debug information knows them."""
    node = read_node(Memory(torch_process.read), address, torch_process.tensor_layout())
    shown = Variable(name, name_of(node), kind or node.name, memory=f"{address:#x}", evaluate=evaluate)
    return Item(shown, NodeContent(address, fields))


class NodeContent(Content):
    """What a node expands into."""

    def __init__(self, address: int, fields: Content | None = None) -> None:
        self._address = address
        self._fields = fields
        self.named = 5 + (fields is not None)

    def named_items(self, start: int, stop: int) -> list[Item]:
        """Sequence number, origin, inputs, saved tensors, next functions; then the members."""
        memory, layout = Memory(torch_process.read), torch_process.tensor_layout()
        node = read_node(memory, self._address, layout)
        shown = [
            Item(sequence_variable(node.sequence_number)),
            Item(created_variable(origin_of(memory, self._address, layout, current_python()))),
            _group("inputs", [Item(variable) for variable in inputs_of(memory, self._address, layout)]),
            self._saved(memory),
            self._next(memory),
        ]
        if self._fields is not None:
            shown.append(Item(Variable("members", ""), self._fields))
        return shown[start:stop]

    def _saved(self, memory: Memory) -> Item:
        from pyharness.ingdb.printers.values import tensor_at
        from pyharness.ingdb.variables.tensor import tensor_item

        layout = torch_process.tensor_layout()
        if not layout.saved_size:
            return Item(Variable("saved", "<unknown>", note=f"not known for torch {layout.torch}"))
        found = saved_tensors(memory, self._address, layout)
        return _group("saved", [tensor_item(saved.name, tensor_at(saved.impl)) for saved in found])

    def _next(self, memory: Memory) -> Item:
        try:
            return _group("next_functions", list(_edges(memory, self._address)))
        except UnreadableError as error:
            return Item(Variable("next_functions", "<unreadable>", note=str(error)))


def _group(name: str, items: list[Item]) -> Item:
    return Item(Variable(name, f"{len(items)}"), Listed(items))


def _edges(memory: Memory, address: int) -> Iterator[Item]:
    """``std::vector<Edge>``: where the gradients go."""
    layout = torch_process.tensor_layout()
    if not layout.edge_size:
        return
    first, last = struct.unpack("<QQ", memory.read(address + layout.node_edges, 16))
    count = (last - first) // layout.edge_size
    if not 0 <= count < 1 << 32:
        raise UnreadableError("its edges cannot be a vector")
    for index in range(min(count, MAX_EDGES)):
        edge = first + index * layout.edge_size
        target = memory.pointer(edge)
        if not target:
            yield Item(Variable(f"[{index}]", "None"))
            continue
        found = node_item(f"[{index}]", target)
        yield Item(_with_input(found.variable, memory.unsigned(edge + layout.edge_input, 4)), found.content)


def _with_input(shown: Variable, number: int) -> Variable:
    return replace(shown, value=f"{shown.value} input {number}") if number else shown

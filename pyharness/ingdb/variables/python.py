"""Python objects as variables, from memory alone: items, entries, attributes, the parts of an nn.Module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.ingdb import torch_process
from pyharness.ingdb.printers import values as tensor_values
from pyharness.ingdb.variables.items import Content, Item
from pyharness.ingdb.variables.of_torch.node import node_at, node_item
from pyharness.ingdb.variables.tensor import tensor_item
from pyharness.model.text.module_text import module_line
from pyharness.model.variable import Variable
from pyharness.reading.process.memory import UnreadableError
from pyharness.reading.python.attributes import attributes, bases, string_items
from pyharness.reading.python.code import Codes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyharness.reading.python.attributes import Attributes
    from pyharness.reading.python.values import Values

MODULE = "torch.nn.modules.module.Module"
FUNCTION = "torch._C._FunctionBase"
MAX_ITEMS = 100_000
_PARTS = ("_parameters", "_buffers", "_modules")
_LINES = frozenset({"int", "float", "complex", "bool", "str", "bytes", "NoneType", "ellipsis", "range", "cell"})
_CPP_FUNCTION_SIZE = 24


def python_item(values: Values, name: str, address: int, evaluate: str | None = None) -> Item:
    """The object at ``address`` with what it expands into; never raises."""
    try:
        return _item(values, name, address, evaluate)
    except UnreadableError as error:
        return Item(Variable(name, f"<unreadable object at {address:#x}>", evaluate=evaluate, note=str(error)))


def _item(values: Values, name: str, address: int, evaluate: str | None) -> Item:
    kinds = values.type_of(address)[1]
    info = tensor_values.tensor_of_python(address)
    if info is not None:
        return tensor_item(name, info, kinds[0], evaluate)
    node = _node(values, address, kinds)
    if node:
        return node_item(name, node, kinds[0], evaluate, _attributes_of(values, address, evaluate))
    content = content_of(values, address, evaluate)
    text = content.line(kinds[0]) if isinstance(content, _Module) else values.describe(address)
    return Item(Variable(name, text, kinds[0], evaluate=evaluate, link=_link(values, address, kinds)), content)


def _node(values: Values, address: int, kinds: tuple[str, ...]) -> int:
    """The autograd node that a Python object stands for, 0 where it is none."""
    layout = torch_process.tensor_layout()
    if FUNCTION in kinds and layout.python_node:
        return node_at(values.memory.pointer(address + layout.python_node))
    kind = values.memory.pointer(address + values.layout["object.ob_type"])
    size = values.memory.signed(kind + values.layout["type.tp_basicsize"])
    if size != _CPP_FUNCTION_SIZE or len(kinds) != 2 or kinds[0] in _LINES or not layout.python_cpp_node:
        return 0
    return node_at(values.memory.pointer(address + layout.python_cpp_node))


def _link(values: Values, address: int, kinds: tuple[str, ...]) -> str | None:
    """Where a Python function begins."""
    if kinds[0] != "function":
        return None
    code = Codes(values).at(values.memory.pointer(address + values.layout["function.code"]))
    return f"{code.file}:{code.first_line}"


def content_of(values: Values, address: int, evaluate: str | None) -> Content | None:
    """What an object expands into, ``None`` where it is one line."""
    kinds = values.type_of(address)[1]
    if kinds[0] in _LINES:
        return None
    if "list" in kinds or "tuple" in kinds:
        kind = "list" if "list" in kinds else "tuple"
        return _Sequence(values, lambda limit: values.sequence(address, limit, kind=kind), evaluate)
    if "set" in kinds or "frozenset" in kinds:
        return _Sequence(values, lambda limit: values.set_items(address, limit), None)
    if "dict" in kinds:
        return _Entries(values, address, evaluate)
    if "type" in kinds:
        held = values.memory.pointer(address + values.layout["type.tp_dict"])
        return _Attributes(values, string_items(values, held) if held else [], evaluate)
    return _attributes_of(values, address, evaluate)


def _attributes_of(values: Values, address: int, evaluate: str | None) -> Content | None:
    found = attributes(values, address)
    if not found:
        return None
    if any(name == MODULE for name, _ in bases(values, address)):
        return _Module(values, found, evaluate)
    return _Attributes(values, found, evaluate)


def attribute_items(values: Values, found: Attributes, evaluate: str | None) -> Iterator[Item]:
    """Attributes with the expressions that give them."""
    for name, address in found:
        expression = f"{evaluate}.{name}" if evaluate and name.isidentifier() else None
        yield python_item(values, name, address, expression)


class _Attributes(Content):
    def __init__(self, values: Values, found: Attributes, evaluate: str | None) -> None:
        self._values = values
        self._found = found
        self._evaluate = evaluate
        self.named = len(found)

    def named_items(self, start: int, stop: int) -> Iterator[Item]:
        """By their names."""
        return attribute_items(self._values, self._found[start:stop], self._evaluate)


class _Sequence(Content):
    """Items by their number: the addresses of the first so many can be asked for."""

    def __init__(self, values: Values, find: Callable[[int], tuple[int, list[int]]], evaluate: str | None) -> None:
        self._values = values
        self._find = find
        self._evaluate = evaluate
        self.indexed = min(find(0)[0], MAX_ITEMS)

    def indexed_items(self, start: int, stop: int) -> Iterator[Item]:
        """By their number."""
        for index, address in enumerate(self._find(stop)[1][start:stop], start):
            expression = f"{self._evaluate}[{index}]" if self._evaluate else None
            yield python_item(self._values, f"[{index}]", address, expression)


class _Entries(Content):
    """The entries of a dict, by their keys."""

    def __init__(self, values: Values, address: int, evaluate: str | None) -> None:
        self._values = values
        self._address = address
        self._evaluate = evaluate
        self.named = max(0, min(values.dict_items(address, 0)[0], MAX_ITEMS))

    def named_items(self, start: int, stop: int) -> Iterator[Item]:
        """By their keys."""
        for key, value in self._values.dict_items(self._address, stop)[1][start:stop]:
            text = self._values.describe(key)
            yield python_item(self._values, text, value, self._expression(key, text))

    def _expression(self, key: int, text: str) -> str | None:
        simple = self._values.type_of(key)[1][0] in {"str", "int"} and not text.endswith(("…", ">"))
        return f"{self._evaluate}[{text}]" if self._evaluate and simple else None


class _Module(Content):
    """An nn.Module: its parameters, buffers and submodules, then the user's attributes, then what torch keeps."""

    def __init__(self, values: Values, found: Attributes, evaluate: str | None) -> None:
        self._values = values
        self._evaluate = evaluate
        held = dict(found)
        groups = [self._entries(held[name]) if name in held else [] for name in _PARTS]
        self._counts = [sum(map(self._is_set, group)) for group in groups]
        parts = [entry for group in groups for entry in group]
        self._shown = parts + [(name, address) for name, address in found if not name.startswith("_")]
        self._internals = [(name, address) for name, address in found if name.startswith("_")]
        self.named = len(self._shown) + bool(self._internals)

    def _is_set(self, entry: tuple[str, int]) -> bool:
        """Whether a name stands for something: a missing bias is registered as None."""
        return self._values.type_of(entry[1])[1][0] != "NoneType"

    def line(self, kind: str) -> str:
        """The module in short."""
        return module_line(kind, *self._counts)

    def _entries(self, address: int) -> Attributes:
        try:
            return string_items(self._values, address)
        except UnreadableError:
            return []

    def named_items(self, start: int, stop: int) -> Iterable[Item]:
        """Parameters, buffers, submodules, attributes, and the rest as one."""
        yield from attribute_items(self._values, self._shown[start:stop], self._evaluate)
        if self._internals and start <= len(self._shown) < stop:
            rest = _Attributes(self._values, self._internals, self._evaluate)
            yield Item(Variable("internals", "hooks, and what else torch keeps"), rest)

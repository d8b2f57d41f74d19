"""Native values as variables: fields, elements, what a pointer points to, the children of a pretty printer."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import gdb

from pyharness.ingdb.printers import bindings, registry
from pyharness.ingdb.printers import values as tensor_values
from pyharness.ingdb.stack import backtrace
from pyharness.ingdb.tensors.address import plain_type, referred
from pyharness.ingdb.tensors.members import A_REFERENCE, CLASSES, REFERENCES, is_in_pieces
from pyharness.ingdb.time_limit import each, limited
from pyharness.ingdb.variables import data_pointers
from pyharness.ingdb.variables import python as variables_python
from pyharness.ingdb.variables import tensor as variables_tensor
from pyharness.ingdb.variables.assign import assigned
from pyharness.ingdb.variables.items import Content, Item
from pyharness.ingdb.variables.of_torch import module as variables_module
from pyharness.ingdb.variables.of_torch import node as variables_node
from pyharness.ingdb.variables.of_torch import optimizer as variables_optimizer
from pyharness.ingdb.variables.runs import run_of
from pyharness.model.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.ingdb.variables.runs import Run

MAX_TEXT = 200
_KEPT_NOWHERE = "the compiler keeps it nowhere here"
_MAX_FIELDS = 500
_MOST_PARTS = 16
"""Elements among which one is looked for that the compiler has kept."""
_NAMES_OF_PARTS = re.compile(r"<[^>]*optimized out[^>]*>|<repeats \d+ times>|(?:<[^=]*>|[\w$.:]+) = |[{}\s,]|\.\.\.")
"""All in gdb's text of a value that is no value."""
_MAX_COUNT = 1 << 20
"""Elements of a container that says how many it has; any page of them is walked to."""
_MAX_WALK = 10_000
"""Elements of a container that can only be counted by walking through it."""
_COUNTED = re.compile(r"(?:of length|with) (\d+)")
_COUNTED_BY_GCC = re.compile(r"std::(?:__\w+::)?\w+ (?:of length|with) (\d+)")
_MOST_ELEMENTS = 1 << 40
"""No program has memory for more."""
_UNREADABLE = "the container cannot be read: made yet, or freed already?"
_PYTHON_OBJECT = re.compile(r"(?:const )?(?:struct )?(?:PyObject|_object) \*(?: const)?")
_NUMBERED = re.compile(r"^__(\d+)$")
"""A field of a tuple of Rust's: expressions call it by its number."""
_NULL_POINTERS = {"decltype(nullptr)", "nullptr_t", "std::nullptr_t"}


def native_item(name: str, value: gdb.Value, evaluate: str | None = None) -> Item:
    """A value of the program with what it expands into; what cannot be read has a note, never raises."""
    try:
        with limited():
            if not _is_lost(value):
                return _item(name, value, evaluate)
    except Exception as error:  # noqa: BLE001  (printers are anybody's, and memory may hold anything)
        if not value.is_optimized_out:
            return Item(Variable(name, f"<{error}>", str(value.type), evaluate=evaluate))
    return Item(Variable(name, "<optimized out>", str(value.type), note=_KEPT_NOWHERE))


def is_null_pointer(kind: gdb.Type) -> bool:
    """Whether it is ``std::nullptr_t``, of which gdb takes no value: it knows no size of it."""
    return str(plain_type(kind)) in _NULL_POINTERS


def null_pointer(symbol: gdb.Symbol) -> Item:
    """The one value that a variable of ``std::nullptr_t`` has."""
    return Item(Variable(symbol.name, "nullptr", str(symbol.type), evaluate=symbol.name))


def _is_lost(value: gdb.Value) -> bool:
    """Whether the compiler has kept nothing of a value; gdb says so of one that lacks a part, as its padding."""
    if not value.is_optimized_out or value.type.dynamic or is_in_pieces(value):
        return False
    if value.type.strip_typedefs().code not in {*CLASSES, gdb.TYPE_CODE_ARRAY}:
        return True
    # As gdb prints it: to look at its parts one by one ends gdb 13 where the compiler has kept some.
    return not _NAMES_OF_PARTS.sub("", value.format_string(raw=True, max_elements=_MOST_PARTS, symbols=False))


def _item(name: str, value: gdb.Value, evaluate: str | None) -> Item:
    kind = str(value.type)
    info = tensor_values.tensor_of_cxx(value)
    if info is not None:
        return variables_tensor.tensor_item(name, info, kind, evaluate)
    if found := _of_torch(name, value, evaluate):
        return found
    address = int(value) if _PYTHON_OBJECT.fullmatch(kind) else bindings.object_held(value)
    if address:
        return _python_object(name, address, kind, evaluate)
    owned = data_pointers.owner(value)
    if owned is not None:
        shown = Variable(
            name, shortened(data_pointers.line(value, owned)), kind, memory=_memory(value), evaluate=evaluate
        )
        is_all = not owned.offset and variables_tensor.is_indexable(owned.info)
        return Item(shown, variables_tensor.Rows(owned.info, 0, 0) if is_all else _content(value, evaluate))
    text = shortened(tensor_values.value_text(value))
    said = _COUNTED_BY_GCC.match(text)
    if said and int(said[1]) > _MOST_ELEMENTS:
        shown = Variable(name, f"<corrupt: a length of {said[1]}>", kind, note=_UNREADABLE, evaluate=evaluate)
        return Item(shown, Fields(referred(value), evaluate))
    shown = Variable(name, text, kind, memory=_memory(value), evaluate=evaluate)
    return Item(shown, _content(value, evaluate))


def text_of(value: gdb.Value) -> str:
    """All that a line says of a value."""
    found = _of_torch("", value, None)
    return found.variable.value if found else tensor_values.value_text(value)


def _of_torch(name: str, value: gdb.Value, evaluate: str | None) -> Item | None:
    """An object of torch's that is read from memory, whatever debug information says of its class."""
    kind = str(value.type)
    node = variables_node.node_of_value(value)
    if node:
        return variables_node.node_item(name, node, kind, evaluate, _members(value, evaluate))
    module = variables_module.module_of_value(value)
    if module:
        members = _members(*variables_module.inner(value, evaluate))
        if found := variables_module.module_item(name, module, kind, evaluate, members):
            return found
    return variables_optimizer.optimizer_item(name, value, evaluate)


def shortened(text: str) -> str:
    """At most so much text as a line of a view takes."""
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def _members(value: gdb.Value, evaluate: str | None) -> Content | None:
    """The members of an autograd node, where its class is defined in debug information."""
    kind = plain_type(value.type)
    try:
        if kind.code == gdb.TYPE_CODE_PTR:
            whole = _dynamic(value).dereference()
            return Fields(whole, evaluate, "->") if whole.type.fields() else None
        return Fields(value, evaluate) if kind.fields() and not kind.name.startswith(("std::", "c10::")) else None
    except (gdb.error, TypeError):
        return None


def _python_object(name: str, address: int, kind: str, evaluate: str | None) -> Item:
    python = backtrace.current_python()
    if python is None:
        return Item(Variable(name, f"{address:#x}", kind, evaluate=evaluate))
    found = variables_python.python_item(python.values, name, address)
    return Item(replace(found.variable, evaluate=evaluate), found.content)


def _memory(value: gdb.Value) -> str | None:
    """What a pointer points to, else where the value lies."""
    if value.type.strip_typedefs().code == gdb.TYPE_CODE_PTR:
        return f"{int(value):#x}" if int(value) else None
    return f"{int(value.address):#x}" if value.address is not None else None


def _content(value: gdb.Value, evaluate: str | None) -> Content | None:
    """What a value expands into, ``None`` where it is one line."""
    if not is_in_pieces(value):
        return _followed(referred(value), evaluate)
    return Fields(value, evaluate)


def _followed(value: gdb.Value, evaluate: str | None) -> Content | None:
    run = run_of(value)
    if run is not None:
        return Elements(run, evaluate)
    held = registry.inside(value)
    if held is not None:
        return _content(held, None)
    parts = registry.parts(value)
    if parts is not None:
        return Printed(_Listed(parts))
    printer = registry.printer_of(value)
    if printer is not None:
        return Printed(printer) if hasattr(printer, "children") else None
    kind = plain_type(value.type)
    if kind.code in CLASSES:
        return Fields(value, evaluate)
    return _pointee(value, evaluate) if kind.code == gdb.TYPE_CODE_PTR else None


def _pointee(value: gdb.Value, evaluate: str | None) -> Content | None:
    target = plain_type(value.type).target().strip_typedefs()
    if not int(value) or target.code in {gdb.TYPE_CODE_VOID, gdb.TYPE_CODE_FUNC}:
        return None
    if target.code in CLASSES:
        return Fields(_dynamic(value).dereference(), evaluate, "->")
    if target.code == gdb.TYPE_CODE_INT and target.sizeof == 1:
        return None  # a string: its text says it all
    return _Pointee(value, evaluate)


def _dynamic(pointer: gdb.Value) -> gdb.Value:
    """A pointer to a class as what it really points to, where debug information knows."""
    try:
        return pointer.cast(pointer.dynamic_type)
    except gdb.error:
        return pointer


class _Pointee(Content):
    named = 1

    def __init__(self, pointer: gdb.Value, evaluate: str | None) -> None:
        self._pointer = pointer
        self._evaluate = f"*{evaluate}" if evaluate else None

    def named_items(self, start: int, stop: int) -> list[Item]:
        """What the pointer points to."""
        return [native_item(self._evaluate or "*", self._pointer.dereference(), self._evaluate)][start:stop]

    def assign(self, name: str, value: str) -> Item:
        """Write to where the pointer points."""
        return native_item(name, assigned(self._pointer.dereference(), value), self._evaluate)


class Fields(Content):
    """Base classes and members of a class."""

    def __init__(self, value: gdb.Value, evaluate: str | None, link: str = ".") -> None:
        self._value = value
        self._path = f"{_operand(evaluate)}{link}" if evaluate else None
        self._evaluate = evaluate
        self._link = link
        self._fields = list(islice(_shown_fields(plain_type(value.type)), _MAX_FIELDS))
        self.named = len(self._fields)
        self._is_in_pieces = is_in_pieces(value)

    def named_items(self, start: int, stop: int) -> list[Item]:
        """Base classes, then members."""
        return [self._one(field) for field in self._fields[start:stop]]

    def _one(self, field: gdb.Field) -> Item:
        if self._is_in_pieces and field.type is not None and field.type.strip_typedefs().code in REFERENCES:
            return Item(
                Variable(field.name or "", A_REFERENCE, str(field.type), note="the compiler keeps it nowhere here")
            )
        part = self._value[field]
        if field.is_base_class or not field.name:  # their members are reached through the whole
            shown = Variable(field.name or "<anonymous>", "", str(part.type), memory=_memory(part))
            return Item(shown, Fields(part, self._evaluate, self._link))
        if part.type.name == f"{self._value.type.name}::{field.name}":
            return native_item(field.name, part, self._evaluate)  # a variant of Rust's: expressions do not name it
        called = _NUMBERED.sub(r"\1", field.name)
        return native_item(field.name, part, f"{self._path}{called}" if self._path else None)

    def assign(self, name: str, value: str) -> Item:
        """Write a member."""
        field = next((field for field in self._fields if field.name == name and not field.is_base_class), None)
        if field is None:
            return super().assign(name, value)
        return native_item(name, assigned(self._value[field], value), f"{self._path}{name}" if self._path else None)


def _shown_fields(kind: gdb.Type) -> Iterator[gdb.Field]:
    for field in kind.fields():
        if hasattr(field, "bitpos") and not field.artificial and not (field.name or "").startswith("_vptr"):
            yield field


def _operand(evaluate: str) -> str:
    return evaluate if re.fullmatch(r"[\w.:\[\]>-]+", evaluate) else f"({evaluate})"


class Elements(Content):
    """Elements that lie one after another."""

    def __init__(self, run: Run, evaluate: str | None) -> None:
        self._run = run
        self._path = _operand(evaluate) if evaluate and run.plain else None
        self.indexed = run.length

    def indexed_items(self, start: int, stop: int) -> Iterator[Item]:
        """Elements by their number."""
        for index in range(start, stop):
            yield native_item(f"[{index}]", self._run.at(index), self._expression(index))

    def _expression(self, index: int) -> str | None:
        return f"{self._path}[{index}]" if self._path else None

    def assign(self, name: str, value: str) -> Item:
        """Write an element."""
        index = int(name.strip("[]")) if re.fullmatch(r"\[\d+\]", name) else -1
        if not 0 <= index < self.indexed:
            return super().assign(name, value)
        return native_item(name, assigned(self._run.at(index), value), self._expression(index))


class _Listed:
    """A printer that only lists what ``std::get`` finds."""

    def __init__(self, parts: list[gdb.Value]) -> None:
        self._parts = parts

    def children(self) -> Iterator[tuple[str, gdb.Value]]:
        return ((f"get<{number}>", part) for number, part in enumerate(self._parts))


class Printed(Content):
    """What a pretty printer lists."""

    def __init__(self, printer: Any) -> None:
        self._printer = printer
        self._hint = printer.display_hint() if hasattr(printer, "display_hint") else None
        self.named = 0 if self._hint == "string" else self._count()

    @property
    def is_sequence(self) -> bool:
        """Whether its children are elements, one after another."""
        first = next(iter(self._printer.children()), None)
        return self._hint != "map" and first is not None and str(first[0]) == "[0]"

    def _count(self) -> int:
        text = self._printer.to_string() if hasattr(self._printer, "to_string") else ""
        said = _COUNTED.search(text) if isinstance(text, str) else None
        if said:
            return min(int(said[1]), _MAX_COUNT)
        count = sum(1 for _ in islice(each(self._printer.children()), _MAX_WALK))
        return (count + 1) // 2 if self._hint == "map" else count

    def named_items(self, start: int, stop: int) -> Iterator[Item]:
        """The printer's children; a map's by their keys. Ends with a note where the container is corrupt."""
        try:
            yield from self._children(start, stop)
        except Exception as error:  # noqa: BLE001  (as in `native_item`)
            yield Item(Variable("…", f"<{error}>", note=_UNREADABLE))

    def _children(self, start: int, stop: int) -> Iterator[Item]:
        pairs = each(self._printer.children())
        if self._hint != "map":
            yield from (native_item(str(name), _value(part)) for name, part in islice(pairs, start, stop))
            return
        both = islice(pairs, 2 * start, 2 * stop)  # keys and values in turn
        for (_, key), (_, part) in zip(both, both, strict=False):
            yield native_item(f"[{tensor_values.value_text(_value(key))}]", _value(part))

    def assign(self, name: str, value: str) -> Item:
        """Write the child of that name, where it lies in memory."""
        if self._hint == "map":
            return super().assign(name, value)
        for found, part in islice(each(self._printer.children()), _MAX_COUNT):
            if str(found) == name:
                return native_item(name, assigned(_value(part), value))
        return super().assign(name, value)


def _value(part: Any) -> gdb.Value:
    """Printers may list text and numbers of their own."""
    return part if isinstance(part, gdb.Value) else gdb.Value(part)

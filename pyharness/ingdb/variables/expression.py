"""Evaluates what a person types, in the language of its frame: gdb's C++, or names of Python resolved from memory."""

from __future__ import annotations

import ast
import struct
from dataclasses import replace
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.printers import values as tensor_values
from pyharness.ingdb.process import libraries
from pyharness.ingdb.stack import backtrace
from pyharness.ingdb.variables import slices, tensor_parts
from pyharness.ingdb.variables.frame import frame_globals, frame_locals
from pyharness.ingdb.variables.items import Item, page
from pyharness.ingdb.variables.native_expression import native_value
from pyharness.ingdb.variables.python import MODULE, python_item
from pyharness.model.errors import HarnessError, nearest
from pyharness.reading.process.memory import UnreadableError
from pyharness.reading.python.attributes import attributes, bases, string_items
from pyharness.reading.stack.merge import NativeFrame

if TYPE_CHECKING:
    from pyharness.reading.python.frames import PythonFrame
    from pyharness.reading.python.threads import Python

_PARTS = ("_parameters", "_buffers", "_modules")
_MAX_ITEMS = 100_000
_DESCRIPTORS = frozenset({"property", "getset_descriptor", "member_descriptor", "cached_property"})
_FORMS = "Names, attributes and items are read from memory: `x.weight`, `d['k']`, `xs[0]`."


def evaluate(
    expression: str, frame: NativeFrame | PythonFrame, python: Python | None, thread: int, *, whole: bool = False
) -> Item:
    """The value of an expression in a frame; ``HarnessError`` says why there is none.

    ``whole``: more of it than a line of a view takes.
    """
    if isinstance(frame, NativeFrame):
        return native_value(expression, frame.handle, whole=whole)
    if python is None:
        raise HarnessError(f"{expression} cannot be evaluated: the interpreter cannot be read.")
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
    except SyntaxError as error:
        raise HarnessError(f"{expression!r} is not a Python expression: {error.msg}.", _FORMS) from error
    try:
        return _Python(python, frame, thread).item(tree, expression.strip(), whole=whole)
    except UnreadableError as error:
        raise HarnessError(f"{expression} cannot be read from memory ({error}).", "It may be freed already.") from error


class _Python:
    """Resolves expressions in one Python frame."""

    def __init__(self, python: Python, frame: PythonFrame, thread: int) -> None:
        self._python = python
        self._values = python.values
        self._frame = frame
        self._thread = thread
        self._whole = False

    def item(self, tree: ast.expr, text: str, *, whole: bool) -> Item:
        """The value of an expression as an item called like it."""
        self._whole = whole
        found = self._of(tree)
        if isinstance(found, int):
            return python_item(self._values.whole() if whole else self._values, text, found, text)
        return Item(replace(found.variable, name=text, evaluate=text), found.content)

    def _of(self, tree: ast.expr) -> int | Item:
        """Address of an object, or an item where what is meant is no object in memory: part of a tensor."""
        if isinstance(tree, ast.Name):
            return self._name(tree.id)
        if isinstance(tree, ast.Attribute):
            return self._attribute(self._of(tree.value), tree)
        if isinstance(tree, ast.Subscript):
            return self._subscript(self._of(tree.value), tree)
        raise self._refused(tree)

    def _name(self, name: str) -> int:
        found = dict(frame_locals(self._python, self._frame))
        if name not in found:
            found = {**dict(frame_globals(self._python, self._frame)), **found}
        if name not in found:
            remedy = nearest(name, found) or "Only locals and globals of the frame are read from memory."
            raise HarnessError(f"There is no variable {name!r} in this frame.", remedy)
        return found[name]

    def _attribute(self, whole: int | Item, tree: ast.Attribute) -> int | Item:
        if isinstance(whole, int):
            found = self._held(whole, tree.attr)
            if found is not None:
                return found
            whole = python_item(self._values, "", whole, ast.unparse(tree.value))
        part = tensor_parts.child(whole, tree.attr)
        if part is None:
            raise self._refused(tree)
        return part

    def _held(self, address: int, name: str) -> int | None:
        """What an object, an nn.Module's registers, or a class keeps under a name."""
        found = dict(attributes(self._values, address))
        if name in found:
            return found[name]
        kinds = list(bases(self._values, address))
        if any(kind == MODULE for kind, _ in kinds):
            for part in _PARTS:
                entries = dict(string_items(self._values, found[part])) if part in found else {}
                if name in entries:
                    return entries[name]
        return self._of_class(address, [kind for _, kind in kinds], name)

    def _of_class(self, address: int, kinds: list[int], name: str) -> int | None:
        """A constant of the class, or a field of a named tuple; what is another descriptor would run code."""
        for kind in kinds:
            held = self._values.memory.pointer(kind + self._values.layout["type.tp_dict"])
            found = dict(string_items(self._values, held)).get(name) if held else None
            if found is not None:
                descriptor = self._values.type_of(found)[1][0]
                if descriptor in {"_collections._tuplegetter", "collections._tuplegetter"}:  # until 3.11; since 3.12
                    return self._field(address, found)
                return None if descriptor in _DESCRIPTORS else found
        return None

    def _field(self, address: int, getter: int) -> int | None:
        """A field of a named tuple: its getter holds the index, after the head of an object."""
        index: int = struct.unpack("<q", self._values.memory.read(getter + 16, 8))[0]
        count, items = self._values.sequence(address)
        return items[index] if 0 <= index < min(count, len(items)) else None

    def _subscript(self, whole: int | Item, tree: ast.Subscript) -> int | Item:
        keys = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
        last = keys[-1] if keys else None
        if isinstance(last, ast.Slice):
            item = self._item_of(whole, tree)
            for index in keys[:-1]:
                item = self._element(item, self._literal(index, tree), tree)
            return slices.of_item(ast.unparse(tree), item, self._bounds(last, tree), whole=self._whole)
        key = self._literal(tree.slice, tree)
        if isinstance(whole, int) and tensor_values.tensor_of_python(whole) is None:
            return self._entry(whole, key, tree)
        item = self._item_of(whole, tree)
        for index in key if isinstance(key, tuple) else (key,):
            item = self._element(item, index, tree)
        return item

    def _item_of(self, whole: int | Item, tree: ast.Subscript) -> Item:
        return python_item(self._values, "", whole, ast.unparse(tree.value)) if isinstance(whole, int) else whole

    def _literal(self, key: ast.expr, tree: ast.Subscript) -> object:
        try:
            return ast.literal_eval(key)
        except ValueError:
            raise self._refused(tree) from None

    def _bounds(self, key: ast.Slice, tree: ast.Subscript) -> slice:
        found = [None if each is None else self._literal(each, tree) for each in (key.lower, key.upper, key.step)]
        if any(each is not None and not isinstance(each, int) for each in found):
            raise self._refused(tree)
        return slice(*found)

    def _entry(self, whole: int, key: object, tree: ast.Subscript) -> int:
        kinds = self._values.type_of(whole)[1]
        for kind in ("list", "tuple"):
            if kind in kinds and isinstance(key, int):
                count, items = self._values.sequence(whole, _MAX_ITEMS, kind=kind)
                number = tensor_parts.counted(count, key, ast.unparse(tree.value), ast.unparse(tree))
                if number >= len(items):
                    raise HarnessError(
                        f"{ast.unparse(tree)} is too far behind: {_MAX_ITEMS} items are read from memory."
                    )
                return items[number]
        if "dict" in kinds:
            return self._value_of(whole, key, tree)
        raise self._refused(tree)

    def _value_of(self, whole: int, key: object, tree: ast.Subscript) -> int:
        wanted = repr(key)
        for known, value in self._values.dict_items(whole, _MAX_ITEMS)[1]:
            kind = self._values.type_of(known)[1][0]
            if kind == type(key).__name__ and self._text(known, kind) == wanted:
                return value
        raise HarnessError(f"{ast.unparse(tree)}: there is no such key.", "Open the dict to see its keys.")

    def _text(self, key: int, kind: str) -> str:
        return repr(self._values.string(key)) if kind == "str" else self._values.describe(key)

    def _element(self, item: Item, index: object, tree: ast.Subscript) -> Item:
        content = item.content
        if content is None or not isinstance(index, int) or not content.indexed:
            raise self._refused(tree)
        number = tensor_parts.counted(content.indexed, index, ast.unparse(tree.value), ast.unparse(tree))
        return page(content, number, 1, "indexed")[0]

    def _refused(self, tree: ast.expr) -> HarnessError:
        return HarnessError(f"{ast.unparse(tree)} cannot be evaluated: {self._reason()}.", f"{_FORMS} {self._remedy()}")

    def _reason(self) -> str:
        if not libraries.is_traced(gdb.selected_inferior().pid):
            return "nothing runs in a core file"
        if self._thread in backtrace.gil_holders():
            return "the native stop holds the GIL, and no Python code can run"
        return "the thread stands in native code, and cannot run Python code"

    def _remedy(self) -> str:
        if not libraries.is_traced(gdb.selected_inferior().pid):
            return "Debug the program itself for more."
        return "For more, step out to the Python line that called."

"""What a name means where the program stopped at an op or a node: ``in0``, ``out0``, and parts of them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.calls import expressions
from pyharness.ingdb.functions import trap_line
from pyharness.ingdb.printers.values import tensor_at
from pyharness.ingdb.variables import slices, tensor_parts
from pyharness.ingdb.variables.items import Item
from pyharness.ingdb.variables.tensor import tensor_item
from pyharness.model.conditions.op_names import MENTION, NAME
from pyharness.model.errors import HarnessError
from pyharness.model.frozen import frozen
from pyharness.model.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.ingdb.functions.trap_line import NativeStop
    from pyharness.ingdb.variables.tensor_parts import PartOf

_TENSOR = "at::Tensor"
_FIRST = re.compile(rf"\s*{NAME}\b")
_ANYWHERE = re.compile(rf"(?<![\w.>:]){NAME}(?!\w)")
_LIST = re.compile(r"\[(.*)\](?: \(\w+\))?")
"""A list as it is shown; strides say behind it that they are contiguous."""
_MOST_NAMED = 16


def here(frame: gdb.Frame) -> NativeStop | None:
    """The op or node that the program stopped at, where the frame is the one of it."""
    return trap_line.current_native() if frame == gdb.newest_frame() else None


def op_value(stop: NativeStop, name: str) -> Item | None:
    """The tensor, the number or the list that ``in0``, ``out``, or ``in0[1]`` of a list, means there."""
    if address := stop.address(name):
        return tensor_item(name, tensor_at(address), _TENSOR, name)
    value = stop.values.get(stop.known_as(name))
    return None if value is None else Item(Variable(name, value, evaluate=name))


def op_item(expression: str, frame: gdb.Frame, number: Callable[[str], int], *, whole: bool = False) -> Item | None:
    """The value of an expression that begins with such a name; ``None`` for any other.

    ``HarnessError`` for what would run code, and for what is not there. ``whole``: with more than a line of a slice.
    """
    if not MENTION.search(expression) or (stop := here(frame)) is None:
        return None
    found = _Reading(stop, expression.strip(), number, whole).item() if _FIRST.match(expression) else None
    if found is None and any(op_value(stop, name) for name in _ANYWHERE.findall(expression)):
        raise HarnessError(f"{expression.strip()} is more than can be read from memory. {takes(stop)}")
    return found


@frozen
class _Reading:
    """Reads one expression, from its first name on."""

    stop: NativeStop
    text: str
    number: Callable[[str], int]
    whole: bool

    def item(self, text: str = "") -> Item | None:
        """The value; ``None`` where the name at its beginning has none, or where it is more than parts of one."""
        text = text or self.text
        if item := op_value(self.stop, text.replace(" ", "")):
            return item
        sliced, asked = slices.split(text), tensor_parts.split(text)
        base = sliced.base if sliced else asked.base if asked else ""
        held = self.item(base) if base else None
        if held is None or asked is None:
            return None
        if sliced:
            indices = [self._index(each) for each in sliced.indices]
            bounds = slices.bounds_of(sliced, self._index)
            known = None if indices else _listed(held)
            if known is not None:
                return Item(Variable(text, f"[{', '.join(known[bounds])}]", evaluate=text))
            found = tensor_parts.element(held, indices, base, text)
            tensor_parts.check_has_elements(found, base, text)
            return slices.of_item(text, found, bounds, whole=self.whole)
        return self._part(held, asked, text)

    def _part(self, held: Item, asked: PartOf, text: str) -> Item:
        if isinstance(held.content, slices.Part):
            found = tensor_parts.element(held, map(self._index, asked.indices), asked.base, text)
            return Item(replace(found.variable, name=text, evaluate=text), found.content)
        if tensor_parts.has_parts(held):
            return tensor_parts.part(held, asked, text, self._index)
        if asked.attribute or not asked.indices:
            raise HarnessError(f"{text}: {asked.base} is {held.variable.value}, no tensor.", takes(self.stop))
        return self._of_list(held, asked, text)

    def _of_list(self, held: Item, asked: PartOf, text: str) -> Item:
        """An element of a list: sizes, numbers, or tensors, each of which has a name of its own."""
        known, index = _listed(held), self._index(asked.indices[0])
        if known is None or len(asked.indices) > 1:
            raise tensor_parts.one_too_many(text, asked.base, held.variable.value)
        number = tensor_parts.counted(len(known), index, asked.base, text)
        name = f"{asked.base}[{number}]"
        return op_value(self.stop, name) or Item(Variable(text, known[number], evaluate=text))

    def _index(self, index: str) -> int:
        if not index:
            raise HarnessError(f"{self.text} has an index that is empty.", takes(self.stop))
        try:
            return self.number(index)
        except gdb.error as error:
            said = expressions.said(error, index)
            raise HarnessError(f"{self.text}: {index!r} is no index here: {said}", takes(self.stop)) from error


def _listed(item: Item) -> list[str] | None:
    """What a list of numbers, or of tensors' types, has, as it is shown; ``None`` for what is none."""
    found = None if item.content else _LIST.fullmatch(item.variable.value)
    return None if found is None else slices.parted(found[1], ",") if found[1] else []


def unknown(stop: NativeStop, expression: str) -> HarnessError:
    """The error of what is no value of an op or a node."""
    return HarnessError(f"{expression} is no value of this stop: {_has(stop)}", _of_a_tensor(stop))


def takes(stop: NativeStop) -> str:
    """What can be asked for at an op or a node."""
    return f"{_has(stop)} {_of_a_tensor(stop)}".rstrip()


def _has(stop: NativeStop) -> str:
    names = [*stop.tensors, *(name for name in stop.values if "[" not in name)]
    shown = ", ".join(sorted(names)[:_MOST_NAMED])
    later = "; out0 only after it" if stop.before else ""
    return f"{stop.name} has {shown or 'no tensors'}{later}."


def _of_a_tensor(stop: NativeStop) -> str:
    one = next(iter(stop.tensors), "")
    return f"Of a tensor, {one}.shape, {one}[0] and {one}[0:2] can be read." if one else ""

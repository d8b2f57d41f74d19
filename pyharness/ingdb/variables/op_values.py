"""What a name means where the program stopped at an op or a node: ``in0``, ``out0``, and parts of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.functions import trap_line
from pyharness.ingdb.printers.values import tensor_at
from pyharness.ingdb.variables import slices, tensor_parts
from pyharness.ingdb.variables.items import Item
from pyharness.ingdb.variables.tensor import tensor_item
from pyharness.model.errors import HarnessError
from pyharness.model.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.ingdb.functions.trap_line import NativeStop

_TENSOR = "at::Tensor"
_FIRST = re.compile(rf"\s*{trap_line.NAME}\b")
_ANYWHERE = re.compile(rf"(?<![\w.>:]){trap_line.NAME}(?!\w)")
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


def op_item(expression: str, frame: gdb.Frame, number: Callable[[str], int]) -> Item | None:
    """The value of an expression that begins with such a name; ``None`` for any other.

    ``HarnessError`` for what would run code, and for what is not there.
    """
    mentions = trap_line.MENTION.search(expression) and not slices.split(expression)
    if not mentions or (stop := here(frame)) is None:
        return None
    found = _item(stop, expression.strip(), number) if _FIRST.match(expression) else None
    if found is None and any(op_value(stop, name) for name in _ANYWHERE.findall(expression)):
        raise HarnessError(f"{expression.strip()} is more than can be read from memory. {takes(stop)}")
    return found


def _item(stop: NativeStop, text: str, number: Callable[[str], int]) -> Item | None:
    if item := op_value(stop, text.replace(" ", "")):
        return item
    asked = tensor_parts.split(text)
    whole = _item(stop, asked.base, number) if asked else None
    if asked is None or whole is None or slices.split(text):
        return None
    if not tensor_parts.has_parts(whole):
        raise HarnessError(f"{text}: {asked.base} is {whole.variable.value}, no tensor.", takes(stop))
    return tensor_parts.part(whole, asked, text, number)


def takes(stop: NativeStop) -> str:
    """What can be asked for at an op or a node."""
    names = [*stop.tensors, *(name for name in stop.values if "[" not in name)]
    shown = ", ".join(sorted(names)[:_MOST_NAMED])
    later = "; out0 only after it" if stop.before else ""
    if not stop.tensors:
        return f"{stop.name} has {shown or 'no tensors'}{later}."
    one = next(iter(stop.tensors))
    return f"{stop.name} has {shown}{later}. Of a tensor, {one}.shape, {one}[0] and {one}[0:2] can be read."

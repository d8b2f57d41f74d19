"""Evaluates an expression in a native frame: gdb's C++, and what gdb has none for: slices, parts of tensors, nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb import call_operators
from pyharness.ingdb.calls import expressions
from pyharness.ingdb.printers import registry
from pyharness.ingdb.printers import values as tensor_values
from pyharness.ingdb.settings import temporarily
from pyharness.ingdb.time_limit import limited
from pyharness.ingdb.variables import data_pointers, native, op_values, slices, tensor_parts
from pyharness.ingdb.variables.items import Item, page
from pyharness.ingdb.variables.kernels.kernel import kernel_item
from pyharness.ingdb.variables.native import Printed, is_null_pointer, native_item, null_pointer
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from pyharness.ingdb.variables.slices import Sliced
    from pyharness.ingdb.variables.tensor_parts import PartOf

_CUT = ("…", "...")
_WHOLE_SECONDS = 20.0
_OF_TENSORS = "What a tensor has is read from memory: x.shape, x.strides, x[0, 1]."
_REMEDY = "Give a C++ expression of this frame, or a register as $rax."


def native_value(expression: str, frame: gdb.Frame, *, whole: bool) -> Item:
    """The value as an item; ``HarnessError`` says why there is none."""
    frame.select()
    if item := op_values.op_item(expression, frame, _number, whole=whole):
        return item
    if item := kernel_item(expression, frame):
        return item
    if sliced := slices.split(expression):
        return _sliced(expression, sliced, frame, whole=whole)
    try:
        found = _found(expression)
        if isinstance(found, Item):
            return found
        item = native_item(expression, found, expression)
        return _whole(item, found) if whole else item
    except gdb.error as error:
        symbol = gdb.lookup_symbol(expression)[0] if expression.isidentifier() else None
        if symbol is not None and symbol.type is not None and is_null_pointer(symbol.type):
            return null_pointer(symbol)
        stop, said = op_values.here(frame), expressions.said(error, expression)
        if stop and said.startswith("No symbol"):  # without symbols of any program gdb says something else of the name
            raise op_values.unknown(stop, expression) from error
        remedy = op_values.takes(stop) if stop else _OF_TENSORS if "inlined" in said else _REMEDY
        raise HarnessError(f"{expression} cannot be evaluated here: {said}", remedy) from error


def text_of(expression: str, frame: gdb.Frame) -> str:
    """The value as a text; ``gdb.error`` of what gdb refused."""
    item = op_values.op_item(expression, frame, _number, whole=True) or kernel_item(expression, frame)
    if item is None and (slices.split(expression) or op_values.here(frame)):
        item = native_value(expression, frame, whole=True)
    found = item or _found(expression)
    return found.variable.value if isinstance(found, Item) else native.text_of(found)


def _number(index: str) -> int:
    value = expressions.evaluate(index)
    if value.type.strip_typedefs().code == gdb.TYPE_CODE_FLT:  # C++ would cut it
        raise gdb.error(f"{index} is no whole number.")
    return int(value)


def _found(expression: str) -> gdb.Value | Item:
    """What C++ makes of it, or a part of a tensor, of which C++ may know no more than its name."""
    asked = tensor_parts.split(expression)
    # C++ has a comma operator in brackets, of which the last index would be taken, and gdb no call operator.
    first = asked is not None and (len(asked.indices) > 1 or asked.is_call)
    if asked and first and (item := _part(expression, asked)):
        return item
    try:
        return _value(expression)
    except gdb.error:
        if asked and not first and (item := _part(expression, asked) or _listed(expression, asked)):
            return item
        raise


def _part(expression: str, asked: PartOf) -> Item | None:
    """A part of a tensor: of a kernel's buffer, which is a pointer in C++, or of one of C++."""
    whole = kernel_item(asked.base, gdb.selected_frame())
    if whole is not None and tensor_parts.has_parts(whole):
        return tensor_parts.part(whole, asked, expression, _number)
    return _part_of_cxx(expression, asked)


def _listed(expression: str, asked: PartOf) -> Item | None:
    """An element of what a printer lists, where the language has no index for it in gdb, as of Rust's ``Vec``."""
    if len(asked.indices) != 1 or asked.is_call:
        return None
    try:
        with temporarily("may-call-functions", "off"):
            whole: Item | None = native_item(asked.base, call_operators.parsed(asked.base), asked.base)
    except gdb.error:
        inner = tensor_parts.split(asked.base)
        whole = _listed(asked.base, inner) if inner else None
    content = whole.content if whole else None
    if not isinstance(content, Printed) or not content.is_sequence:
        return None
    index = tensor_parts.counted(content.named, _number(asked.indices[0]), asked.base, expression)
    found = page(content, index, 1)[0]
    return Item(replace(found.variable, name=expression, evaluate=None), found.content)


def _part_of_cxx(expression: str, asked: PartOf) -> Item | None:
    """A part of a tensor of C++; ``None`` where it is none, or where telling would call a function."""
    try:
        with temporarily("may-call-functions", "off"):
            value = call_operators.parsed(asked.base)
    except gdb.error:
        inner = None if asked.is_call else tensor_parts.split(asked.base)  # a method that gdb could not call
        whole = _part_of_cxx(asked.base, inner) if inner else None
    else:
        is_tensor = tensor_values.tensor_of_cxx(value) is not None
        whole = native_item(asked.base, value, asked.base) if is_tensor else None
    if whole is None or not tensor_parts.has_parts(whole):
        return None
    return tensor_parts.part(whole, asked, expression, _number)


def _value(expression: str) -> gdb.Value:
    found = data_pointers.pointer(expression)
    return expressions.evaluate(expression) if found is None else found


def _sliced(expression: str, sliced: Sliced, frame: gdb.Frame, *, whole: bool) -> Item:
    """Elements of a pointer, or of what has a length; gdb has the base's value, and the bounds'."""
    try:
        bounds = slices.bounds_of(sliced, _number)
        indices = [_number(index) for index in sliced.indices]
        if not indices:
            value = _value(sliced.base)
            if found := slices.of_value(expression, value, bounds, whole=whole):
                return found
    except gdb.error as error:
        said = expressions.said(error, expression)
        raise HarnessError(f"{expression} cannot be evaluated here: {said}", slices.FORMS) from error
    item = tensor_parts.element(native_value(sliced.base, frame, whole=False), indices, sliced.base, expression)
    tensor_parts.check_has_elements(item, sliced.base, expression)
    return slices.of_item(expression, item, bounds, whole=whole)


def _whole(item: Item, value: gdb.Value) -> Item:
    """The item with all of a text that was cut; a tensor's line is its own."""
    if not any(mark in item.variable.value for mark in _CUT) or tensor_values.tensor_of_cxx(value) is not None:
        return item
    with registry.Room.whole(), limited(_WHOLE_SECONDS):
        text = registry.text_of(value, depth=20)
    return Item(replace(item.variable, value=text), item.content)

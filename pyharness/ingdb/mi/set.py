"""MI command that gives a variable, a member, a register or an element of a tensor another value."""

from __future__ import annotations

import re

import gdb

from pyharness.ingdb.calls import ending
from pyharness.ingdb.mi.commands import handles
from pyharness.ingdb.mi.merged_frame import Place
from pyharness.ingdb.printers.values import value_text
from pyharness.ingdb.stops import watch_target
from pyharness.ingdb.tensors.write import write_element
from pyharness.ingdb.variables.assign import assigned_variable
from pyharness.model.errors import UsageError
from pyharness.model.tensors.dtypes import BY_NAME
from pyharness.protocol import mi

_ASSIGNABLE = re.compile(r"[\w\s$.\->\[\]*&:()+,]+")


@handles(mi.Set)
def _set(request: mi.Set) -> str:
    place = Place(request.thread, request.level)
    expression, value = request.expression.strip(), request.value.strip()
    if not _ASSIGNABLE.fullmatch(expression) or not value:
        raise UsageError(f"{expression!r} cannot be given the value {value!r}.", "Give a variable and a value.")
    base, indices = watch_target.split(expression)
    tensor = watch_target.tensor_named(place, base) if indices else None
    if tensor:
        target = watch_target.named(place, expression)
        width = BY_NAME[tensor.dtype].size
        if target.length != width:
            raise UsageError(f"{expression} is more than one element.", "Set one element: x[3, 2].")
        write_element(tensor, (target.address - tensor.data) // width, value)
        raw = bytes(gdb.selected_inferior().read_memory(target.address, width))
        return target.text(raw)
    if place.native is None:
        raise UsageError(f"{expression} is a variable of Python.", "Set it in Python.")
    place.native.select()
    with ending.possible():
        return value_text(assigned_variable(expression, value))

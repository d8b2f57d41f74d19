"""Gives a native value another one, as gdb's ``print X = VALUE`` does."""

from __future__ import annotations

import gdb

from pyharness.ingdb.calls import expressions
from pyharness.ingdb.process.writable import need_a_process
from pyharness.model.errors import HarnessError

_PLACE = "pyharness_place"
_REMEDY = "Give an expression of its type, in terms of the frame that is shown."


def assigned(place: gdb.Value, expression: str) -> gdb.Value:
    """Write what ``expression`` is in the selected frame to where ``place`` lies; the new value."""
    need_a_process()
    if place.address is None:
        raise HarnessError("This value has no address.", "Set the variable that it is a part of.")
    gdb.set_convenience_variable(_PLACE, place.address)
    return _evaluated(f"*${_PLACE} = ({expression})", expression)


def assigned_variable(name: str, expression: str) -> gdb.Value:
    """The value assigned to a variable of the selected frame by its name: it may lie in a register."""
    need_a_process()
    return _evaluated(f"{name} = ({expression})", expression)


def _evaluated(assignment: str, expression: str) -> gdb.Value:
    try:
        return expressions.evaluate(assignment)
    except gdb.error as error:
        raise HarnessError(f"Cannot set it to {expression!r}: {error}.".replace("..", "."), _REMEDY) from error

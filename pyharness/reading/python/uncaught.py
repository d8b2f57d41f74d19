"""The exception that no code of a program has caught: Python keeps it in ``sys.last_value`` when it has told of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.reading.process.memory import UnreadableError

if TYPE_CHECKING:
    from pyharness.reading.python.threads import Python

_ARGUMENTS = 8
"""Bytes behind an object's head: a BaseException has its ``__dict__`` first, then ``args``."""


def uncaught(python: Python) -> str:
    """The exception as ``ValueError('no')``; empty for none, or where it cannot be read."""
    values = python.values
    try:
        address = python.module_globals("sys").get("last_value", 0)
        name = values.type_of(address)[1][0] if address else "NoneType"
        if name == "NoneType":
            return ""
        given = values.describe(python.memory.pointer(address + python.layout["tuple.ob_size"] + _ARGUMENTS))
    except UnreadableError:
        return ""
    return f"{name}{given.replace(',)', ')')}"

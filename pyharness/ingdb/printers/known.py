"""All ways in which values are shown, known to gdb and to us."""

from __future__ import annotations

from functools import cache

from pyharness.ingdb.printers import (
    accessors,
    arrays,
    bindings,
    callables,
    clocks,
    handles,
    ivalues,
    lanes,
    locks,
    pointers,
    registry,
    small_numbers,
    texts,
    torch_types,
    values,
    wrapped,
)

KNOWN = (
    accessors,
    bindings,
    callables,
    clocks,
    handles,
    ivalues,
    lanes,
    locks,
    pointers,
    small_numbers,
    texts,
    torch_types,
    wrapped,
)
"""Loaded, they know how values look."""


@cache
def register() -> None:
    """Have gdb show values as we do, and our stacks tensors of Python; once, however often it is called."""
    registry.register()
    values.show_python_tensors()
    arrays.register()

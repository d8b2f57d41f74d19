"""All ways in which values are shown, known to gdb and to us."""

from __future__ import annotations

from functools import cache

from pyharness.ingdb.printers import (  # noqa: F401  (loaded, they know how values look)
    accessors,
    arrays,
    bindings,
    callables,
    clocks,
    handles,
    iterators,
    ivalues,
    lanes,
    libcxx,
    libcxx_values,
    locks,
    pointers,
    registry,
    small_numbers,
    texts,
    torch_types,
    values,
    wrapped,
)


@cache
def register() -> None:
    """Have gdb show values as we do, and our stacks tensors of Python; once, however often it is called."""
    libcxx.register()
    registry.register()
    values.show_python_tensors()
    arrays.register()

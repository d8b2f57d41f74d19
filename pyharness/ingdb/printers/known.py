"""All ways in which values are shown, known to gdb and to us."""

from __future__ import annotations

from functools import cache

from pyharness.ingdb.printers import (  # noqa: F401  (loaded, they know how values look)
    array_calls,
    arrays,
    bindings,
    eigen,
    pointers,
    registry,
    rust,
    texts,
    values,
)
from pyharness.ingdb.printers.of_std import (  # noqa: F401
    callables,
    clocks,
    gcc,
    libcxx,
    libcxx_values,
    locks,
    names,
    results,
    streams,
    wrapped,
)
from pyharness.ingdb.printers.of_torch import (  # noqa: F401
    handles,
    inductor_handles,
    iterators,
    ivalues,
    lanes,
    maps,
    small_numbers,
    torch_types,
)


@cache
def register() -> None:
    """Have gdb show values as we do, and our stacks tensors of Python; once, however often it is called."""
    gcc.register()
    libcxx.register()
    maps.register()
    registry.register()
    values.show_python_tensors()
    arrays.register()
    array_calls.register()
    eigen.register()
    rust.register()

"""pyharness: one debugger for PyTorch programs that are half Python and half C++.

Importing this package never imports torch: the same package is read by gdb's own interpreter.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyharness.debugger.attach import attach as attach
    from pyharness.debugger.program import debug as debug
    from pyharness.native.find_nan import find_nan as find_nan
    from pyharness.native.recording import record as record

__version__ = "0.1.0"
__all__ = ["__version__", "attach", "debug", "find_nan", "record"]

_LAZY = {
    "attach": "pyharness.debugger.attach",
    "debug": "pyharness.debugger.program",
    "find_nan": "pyharness.native.find_nan",
    "record": "pyharness.native.recording",
}


def __getattr__(name: str) -> Any:  # PEP 562
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'pyharness' has no attribute {name!r}")

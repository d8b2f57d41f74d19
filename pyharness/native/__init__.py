"""Thin typed wrappers of the extension modules."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from pyharness.native.build import BuildInfo, build_info
from pyharness.native.load import load
from pyharness.native.trap_guard import healed_traps, install_trap_guard

if TYPE_CHECKING:
    from pyharness.native.breakpoints import Breakpoint as Breakpoint
    from pyharness.native.breakpoints import Hit as Hit
    from pyharness.native.breakpoints import breakpoint as breakpoint  # noqa: A004
    from pyharness.native.breakpoints import include_dir as include_dir

__all__ = [
    "Breakpoint",
    "BuildInfo",
    "Hit",
    "breakpoint",
    "build_info",
    "healed_traps",
    "include_dir",
    "install_trap_guard",
    "load",
]

_LAZY = ("Breakpoint", "Hit", "breakpoint", "include_dir")
"""Of ``breakpoints``, which most programs that load something of ours do not need."""


def __getattr__(name: str) -> Any:  # PEP 562
    if name in _LAZY:
        return getattr(importlib.import_module("pyharness.native.breakpoints"), name)
    raise AttributeError(f"module 'pyharness.native' has no attribute {name!r}")

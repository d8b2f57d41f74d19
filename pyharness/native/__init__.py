"""Thin typed wrappers of the extension modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.native.load import load as load
from pyharness.native.trap_guard import healed_traps as healed_traps
from pyharness.native.trap_guard import install_trap_guard as install_trap_guard

if TYPE_CHECKING:
    from pyharness.native.breakpoints import Breakpoint as Breakpoint
    from pyharness.native.breakpoints import Hit as Hit
    from pyharness.native.breakpoints import breakpoint as breakpoint  # noqa: A004
    from pyharness.native.breakpoints import include_dir as include_dir
    from pyharness.native.build import BuildInfo as BuildInfo
    from pyharness.native.build import build_info as build_info
else:
    from pyharness.host.first_use import on_first_use

    __getattr__, __dir__, __all__ = on_first_use(
        __name__,
        {
            "breakpoints": "Breakpoint breakpoint Hit include_dir",
            "build": "BuildInfo build_info",
        },
        "healed_traps",
        "install_trap_guard",
        "load",
    )

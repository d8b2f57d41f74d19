"""Thin typed wrappers of the extension modules."""

from __future__ import annotations

from pyharness.native.build import BuildInfo, build_info
from pyharness.native.load import load
from pyharness.native.trap_guard import healed_traps, install_trap_guard

__all__ = ["BuildInfo", "build_info", "healed_traps", "install_trap_guard", "load"]

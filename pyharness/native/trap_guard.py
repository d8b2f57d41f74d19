"""Lets a program outlive its debugger: see csrc/guard/trap_guard.h. Needs no torch."""

from __future__ import annotations

from pyharness.native.load import load


def install_trap_guard() -> None:
    """From now on a breakpoint that a killed gdb left behind is put right when a thread runs into it.

    ``OSError`` where the kernel refuses, ``HarnessError`` where the module is not built.
    """
    load("_guard").install_trap_guard()


def healed_traps() -> int:
    """How many leftover breakpoints were put right so far."""
    return int(load("_guard").healed_traps())

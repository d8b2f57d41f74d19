"""Calls of functions where the processor has registers that this gdb does not know: see csrc/xstate/xstate.cpp."""

from __future__ import annotations

import ctypes
from contextlib import suppress
from pathlib import Path

import gdb

_KNOWS_ALL = 14
"""The first gdb that asks the kernel how much state there is."""
_LIBRARY = Path(__file__).resolve().parents[2] / "_xstate.abi3.so"


def register() -> None:
    """Have an older gdb write the whole state; without the library it cannot call functions on some processors."""
    version = gdb.VERSION.partition(".")[0]
    if version.isdecimal() and int(version) >= _KNOWS_ALL:
        return
    with suppress(OSError, AttributeError):  # the native half is not built, or is not for this machine
        ctypes.CDLL(str(_LIBRARY)).pyharness_write_whole_xstate()

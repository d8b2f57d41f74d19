"""The threads of this process that wait for its standard input, in ``read``, ``select`` or ``poll``."""

from __future__ import annotations

import os
import platform
import struct
from contextlib import suppress
from pathlib import Path

from pyharness.debuggee.unpatched import select
from pyharness.host.process_state import tasks

_INPUT = 0
_CALLS = {
    "x86_64": {0: "read", 23: "select", 270: "select", 7: "poll", 271: "poll"},
    "aarch64": {63: "read", 72: "select", 73: "poll"},
}
"""Machine → number of a system call → how it names descriptors."""
_POLLED = struct.Struct("ihh")
_MOST = 1024
"""Descriptors of one ``poll``."""


def are_seen() -> bool:
    """Whether the kernel says what a thread of this process waits in."""
    return platform.machine() in _CALLS and Path("/proc/self/syscall").exists()


def input_readers() -> list[int]:
    """The LWPs of those that wait for it now."""
    return [lwp for lwp in tasks(os.getpid()) if _waits_for_input(lwp)]


def _waits_for_input(lwp: int) -> bool:
    with suppress(OSError, ValueError):  # it has ended, or runs
        words = Path(f"/proc/self/task/{lwp}/syscall").read_text(encoding="ascii").split()
        call = _CALLS[platform.machine()].get(int(words[0]))
        first, second = (int(word, 16) for word in words[1:3])
        if call == "read":
            return first == _INPUT
        if call == "select":
            return first > _INPUT and bool(second) and bool(_memory(second, 1)[0] & 1 << _INPUT)
        if call == "poll":
            polled = _POLLED.iter_unpack(_memory(first, min(second, _MOST) * _POLLED.size))
            return any(descriptor == _INPUT and events & select.POLLIN for descriptor, events, _ in polled)
    return False


def _memory(address: int, size: int) -> bytes:
    """What this process has there; ``OSError`` where it has nothing."""
    with open("/proc/self/mem", "rb", buffering=0) as memory:  # noqa: PTH123  (as it is faster)
        return os.pread(memory.fileno(), size, address)

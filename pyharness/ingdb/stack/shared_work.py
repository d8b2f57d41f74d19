"""For whom a stopped thread without Python works, of the threads that run beside it."""

from __future__ import annotations

import time
from pathlib import Path

import gdb

from pyharness.ingdb.process.inferior_memory import read
from pyharness.ingdb.process.libraries import is_traced
from pyharness.protocol.mi import Owner
from pyharness.reading.process.memory_map import regions
from pyharness.reading.stack.shared_work import MOST_BYTES, RED_ZONE, stack_within, works_for

_LOOKS, _BETWEEN = 4, 0.02
"""How often, and seconds from one look to the next: whoever waits for others spins at first, and no event tells when it
sleeps."""


def owners(thread: gdb.InferiorThread) -> tuple[Owner, ...]:
    """The threads that it works for, the most likely one first; empty for one that works for itself."""
    pid, own = gdb.selected_inferior().pid, thread.ptid[1]
    if not is_traced(pid):  # the other stacks of a core file are not known without its mappings
        return ()
    thread.switch()
    mapped = list(regions(_text(f"/proc/{pid}/maps")))
    frame = gdb.newest_frame()
    used = stack_within(mapped, _register(frame, "rsp"))
    if not used:
        return ()
    above = _register(frame, "fs_base")  # what the C library keeps of a thread lies above its stack
    end = above if above in used else used.stop
    start = max(used.start - RED_ZONE, end - MOST_BYTES)
    try:
        stack = read(start, end - start)
    except OSError:
        return ()
    others = {each.ptid[1] for each in gdb.selected_inferior().threads()} - {own}
    for look in range(_LOOKS):
        pointers = {lwp: pointer for lwp in others if (pointer := _stack_pointer(pid, lwp))}
        if found := works_for(stack, {lwp: stack_within(mapped, pointer) for lwp, pointer in pointers.items()}):
            return tuple(Owner(*each) for each in found.items())
        if len(pointers) == len(others):
            break
        if look + 1 < _LOOKS:
            time.sleep(_BETWEEN)
    return ()


def _register(frame: gdb.Frame, name: str) -> int:
    try:
        return int(frame.read_register(name)) & (1 << 64) - 1
    except (gdb.error, ValueError):
        return 0


def _stack_pointer(pid: int, lwp: int) -> int:
    """The stack pointer of a thread that waits in the kernel; 0 for one that runs, or is gone."""
    words = _text(f"/proc/{pid}/task/{lwp}/syscall").split()
    return int(words[-2], 16) if len(words) > 1 else 0  # else it says "running"


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""

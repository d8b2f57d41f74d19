"""Handlers of signals that come while a thread steps: they are no part of what the user steps into.

A signal that the program sends to itself, as by ``raise`` or ``os.kill``, is one: the line that sends it runs its
handler.
"""

from __future__ import annotations

from contextlib import suppress

import gdb

_DEEPEST = 8
"""Frames, at most, between a function of the user's and the kernel, which called the handler."""
_SENDING = [b"\xb8" + number.to_bytes(4, "little") for number in (62, 200, 234, 129, 297)]
"""``mov NUMBER, %eax`` for kill, tkill, tgkill, rt_sigqueueinfo and rt_tgsigqueueinfo (x86-64)."""
_SYSTEM_CALL = b"\x0f\x05"
_WRAPPER = 16
"""Bytes in which the C library's functions for them have both."""


def interrupted_by_handler(stack_pointer: int) -> gdb.Frame | None:
    """The frame in whose midst a handler began, on the selected thread, since it stood at ``stack_pointer``.

    ``None`` for no such handler; 0 stands for anywhere.
    """
    with suppress(gdb.error, gdb.MemoryError):  # of a stack that cannot be read nothing is known
        frame = _called_by_kernel()
        interrupted = frame.older() if frame else None
        if interrupted is None or _sends(interrupted.pc()):
            return None
        return interrupted if not stack_pointer or int(interrupted.read_register("sp")) <= stack_pointer else None
    return None


def _called_by_kernel() -> gdb.Frame | None:
    """The frame that the kernel made to call a handler, if that is near."""
    frame: gdb.Frame | None = gdb.newest_frame()
    for _ in range(_DEEPEST):
        frame = frame.older() if frame else None
        if frame is not None and frame.type() == gdb.SIGTRAMP_FRAME:
            return frame
    return None


def _sends(pc: int) -> bool:
    """Whether the thread has just sent a signal: what the kernel says of a sender is not written for every handler."""
    code = bytes(gdb.selected_inferior().read_memory(pc - _WRAPPER, _WRAPPER))
    return code.endswith(_SYSTEM_CALL) and any(each in code for each in _SENDING)

"""How a process ended that its parent has reaped already: newer kernels (6.15 on) keep that for who holds a pidfd."""

from __future__ import annotations

import fcntl
import os
import struct

_GET_INFO = 0xC040FF0B
"""``PIDFD_GET_INFO`` of ``include/uapi/linux/pidfd.h``, with the first version of its struct."""
_INFO = struct.Struct("QQ11Ii")
"""What is asked for and known, as bits; the cgroup; ids; the exit code, as ``wait`` gives it."""
_EXIT = 1 << 3


def exit_code_of(pidfd: int) -> int | None:
    """The exit code, negative for a signal; ``None`` where the kernel does not say."""
    asked = bytearray(_INFO.pack(_EXIT, 0, *[0] * 11, 0))
    try:
        fcntl.ioctl(pidfd, _GET_INFO, asked)
    except OSError:
        return None
    known, *_, status = _INFO.unpack(asked)
    return os.waitstatus_to_exitcode(status) if known & _EXIT else None

"""Attaches for real: to a child, and from one child to another, as a debugger that did not start the program does.

Run as a program of its own (it forks); standard library only. Prints the errno of both attempts, 0 where it worked.
"""

import ctypes
import json
import os
import signal

_ATTACH, _DETACH, _PR_SET_PDEATHSIG = 16, 17, 1
_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.restype = ctypes.c_long
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def attempt(pid: int) -> int:
    """Attach to ``pid`` and detach; 0 or the errno."""
    if _libc.ptrace(_ATTACH, pid, None, None) < 0:
        return ctypes.get_errno()
    os.waitpid(pid, 0)
    return 0 if _libc.ptrace(_DETACH, pid, None, None) >= 0 else ctypes.get_errno()


def attempt_from_a_child(pid: int) -> int:
    """Attach to ``pid`` and detach, from a process that is no ancestor of it; 0 or the errno."""
    tracer = os.fork()
    if tracer == 0:
        os._exit(attempt(pid))
    return os.waitstatus_to_exitcode(os.waitpid(tracer, 0)[1])


def target() -> int:
    """A process that waits, and ends with this one."""
    pid = os.fork()
    if pid == 0:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        while True:
            signal.pause()
    return pid


def main() -> None:
    """Print both."""
    pid = target()
    try:
        answer = {"from_a_stranger": attempt_from_a_child(pid), "from_the_parent": attempt(pid)}
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    print("pyharness-doctor: " + json.dumps(answer))


if __name__ == "__main__":
    main()

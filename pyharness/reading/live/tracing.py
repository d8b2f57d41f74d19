"""The threads of a process, held for a moment by ptrace: they stand, are read, and go on as they were.

`PTRACE_SEIZE` sends no signal, and the kernel lets everything go when the tracer ends, however it ends. See ptrace(2).
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import struct
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from pyharness.host.process_state import READS, tasks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from typing_extensions import Self

_DETACH, _GETSIGINFO, _GETREGSET, _SEIZE, _INTERRUPT = 17, 0x4202, 0x4204, 0x4206, 0x4207
_NT_PRSTATUS = 1
_EVENT_STOP = 128
_WALL = 0x40000000
_PR_SET_NAME, _PR_GET_NAME = 15, 16
_PATIENCE = 2.0
"""Seconds until a thread stands: one in an uninterruptible system call does not."""
_OVER = {b"Z", b"X"}
_SHORTEST, _LONGEST = 0.00005, 0.005
_WORDS = struct.Struct("<27Q")
_IN_ORDER = (15, 14, 13, 12, 6, 3, 11, 10, 9, 8, 0, 2, 1, 4, 5)
"""Registers by their numbers in DWARF, as ``struct user_regs_struct`` begins; then orig_rax, rip, cs, eflags, rsp."""
_RIP_AT, _RSP_AT, _FS_BASE_AT = 16, 19, 21
_WITH_ADDRESS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE}


class Registers(NamedTuple):
    """Registers of a thread that stands."""

    general: dict[int, int]
    """By their numbers in DWARF; 16 is the program counter."""
    fs_base: int
    """Where its control block is: ``pthread_self()``."""


class NotX86Error(Exception):
    """A process of another architecture, such as a 32-bit one."""


class _Piece(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


class Tracer:
    """Holds all threads of a process while its ``with`` block runs; one thread of ours does all of it.

    ``OSError`` of ``ptrace`` where the process cannot be held.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._seized: set[int] = set()
        self.standing: dict[int, int] = {}
        """Threads that stand → the signal that was on its way to one, which gets it afterwards; 0 for none."""
        self.running: set[int] = set()
        """Threads that could not be stopped: they are in an uninterruptible system call."""
        self._ended: list[int] = []
        self.seconds = 0.0
        """How long it was held."""
        self._since = 0.0

    def __enter__(self) -> Self:
        self._since = time.perf_counter()
        try:
            self._hold()
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._release()

    def _hold(self) -> None:
        """A thread that starts while others are being stopped is found when they stand."""
        deadline = time.monotonic() + _PATIENCE
        while found := [lwp for lwp in sorted(tasks(self._pid)) if lwp not in self._seized]:
            for lwp in found:
                self._interrupt(lwp)
            for lwp in found:
                self._await(lwp, deadline)

    def _interrupt(self, lwp: int) -> None:
        try:
            _ptrace(_SEIZE, lwp)
            self._seized.add(lwp)
            _ptrace(_INTERRUPT, lwp)
        except ProcessLookupError:  # it ended just now
            self._seized.add(lwp)
        except PermissionError:
            if lwp in tasks(self._pid) and not _is_over(self._pid, lwp):
                raise
            self._seized.add(lwp)

    def _await(self, lwp: int, deadline: float) -> None:
        stop = _stop_of(self._pid, lwp, deadline)
        if stop is None:
            self.running.add(lwp)
        elif stop:
            number, event = stop & 0x7F, stop >> 8
            self.standing[lwp] = 0 if event == _EVENT_STOP else number
        else:
            self._ended.append(lwp)

    def _release(self) -> None:
        # Threads that were seized when another was refused stand in a moment; one that does not stand yet, after being
        # waited for, is let go when this thread ends.
        for lwp in sorted(self._seized.difference(self.standing, self._ended)):
            self._await(lwp, 0.0 if lwp in self.running else time.monotonic() + _PATIENCE)
        self._ended += [lwp for lwp, number in self.standing.items() if not _let_go(lwp, number)]
        self.seconds = time.perf_counter() - self._since
        for lwp in sorted(self._ended, key=lambda lwp: lwp == self._pid):
            _collect(self._pid, lwp)

    def registers(self, lwp: int) -> Registers:
        """Registers of a thread that stands; ``OSError`` for one that was killed meanwhile."""
        buffer = ctypes.create_string_buffer(_WORDS.size)
        piece = _Piece(ctypes.addressof(buffer), _WORDS.size)
        _ptrace(_GETREGSET, lwp, _NT_PRSTATUS, ctypes.addressof(piece))
        if piece.length != _WORDS.size:
            raise NotX86Error
        words = _WORDS.unpack(buffer.raw)
        general = dict(zip(_IN_ORDER, words, strict=False))
        general[7], general[16] = words[_RSP_AT], words[_RIP_AT]
        return Registers(general, words[_FS_BASE_AT])

    def fault(self, lwp: int) -> str:
        """The fault that a thread stands at, as ``SIGSEGV at address 0x0``; empty for none, or one that was sent."""
        number = self.standing[lwp]
        if number not in _WITH_ADDRESS:
            return ""
        try:
            code, address = struct.unpack_from("<8xi4xQ", _signal_information(lwp))
        except OSError:
            return ""
        return f"{signal.Signals(number).name} at address {address:#x}" if code > 0 else ""


def _stop_of(pid: int, lwp: int, deadline: float) -> int | None:
    """How a thread stands, as soon as it does: signal, and event above; 0 for one that ended, ``None`` for too long.

    Its end is not asked for: that of our own child is for whoever started it.
    """
    pause = _SHORTEST
    while True:
        try:
            found = os.waitid(os.P_PID, lwp, os.WSTOPPED | os.WNOHANG | _WALL)
        except ChildProcessError:  # it is not traced: it had ended before
            return 0
        if found:
            return found.si_status
        if pause == _LONGEST and (state := _fields(f"{pid}/task/{lwp}")[0]) in {*_OVER, b"t"}:
            return 0 if state in _OVER else _stop_told_to_others(lwp)
        if time.monotonic() > deadline:
            return None
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST)


def _stop_told_to_others(lwp: int) -> int:
    """How a thread stands, where another thread of ours has asked for its child and heard of our stop."""
    try:
        information = _signal_information(lwp)
    except OSError:
        return 0
    number, code = struct.unpack_from("<i4xi", information)
    return int(code if code >> 8 == _EVENT_STOP else number)


def _signal_information(lwp: int) -> bytes:
    """The kernel's ``siginfo_t`` of a stop: si_signo, si_errno, si_code, then si_addr."""
    buffer = ctypes.create_string_buffer(128)
    _ptrace(_GETSIGINFO, lwp, data=ctypes.addressof(buffer))
    return buffer.raw


def _let_go(lwp: int, number: int) -> bool:
    """Whether it could be let go: one that was killed could not."""
    try:
        _ptrace(_DETACH, lwp, data=number)
    except OSError:
        return False
    return True


def _collect(pid: int, lwp: int) -> None:
    """Take note that a thread we traced has ended: its process cannot go before. A child of ours stays its parent's."""
    if lwp == pid and _parent(pid) == os.getpid():
        return
    deadline = time.monotonic() + _PATIENCE
    with suppress(ChildProcessError):
        while not os.waitpid(lwp, _WALL | os.WNOHANG)[0] and time.monotonic() < deadline:
            time.sleep(_LONGEST)


def _is_over(pid: int, lwp: int) -> bool:
    """Whether a thread has ended, and at most its number is left: a main thread that others survive."""
    return _fields(f"{pid}/task/{lwp}")[0] in _OVER


def _parent(pid: int) -> int:
    return int(_fields(str(pid))[1])


def _fields(name: str) -> list[bytes]:
    """State and parent in a ``stat`` below ``/proc``; those of one that has ended where there is none."""
    try:
        with open(f"/proc/{name}/stat", "rb") as stream:  # noqa: PTH123
            return stream.read().rpartition(b")")[2].split()
    except OSError:
        return [b"X", b"0"]


_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.restype = ctypes.c_long
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def _ptrace(request: int, lwp: int, address: int = 0, data: int = 0) -> None:
    if _libc.ptrace(request, lwp, address, data) < 0:
        number = ctypes.get_errno() or errno.EIO
        raise OSError(number, os.strerror(number))


@contextmanager
def named_as_reader() -> Iterator[None]:
    """The name of this thread says meanwhile that it only reads: who comes upon it as a tracer waits for its end."""
    before = ctypes.create_string_buffer(16)
    _libc.prctl(_PR_GET_NAME, before, 0, 0, 0)
    _libc.prctl(_PR_SET_NAME, ctypes.create_string_buffer(READS, 16), 0, 0, 0)
    try:
        yield
    finally:
        _libc.prctl(_PR_SET_NAME, before, 0, 0, 0)

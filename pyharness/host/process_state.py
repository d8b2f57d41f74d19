"""What the kernel says of a process: whether it has ended, is stopped, or rests; and how to have it go on."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

_FLAGS, _PF_EXITING, _PF_KTHREAD = 6, 0x00000004, 0x00200000
"""The number of the field with the flags, behind the name; flags of ``include/linux/sched.h``."""
_USER, _SYSTEM = 11, 12
"""The numbers of the fields with the processor time, in ticks."""
_STARTED = 19
"""The number of the field with the time of the start, in ticks since the machine began."""
_STACK = 25
"""The number of the field with the address where the stack begins."""
_READ_INPUT = ["0", "0x0"]
"""What ``/proc/PID/syscall`` begins with for ``read(0, ...)`` on x86-64."""
_ENDED = {"", "Z", "X"}
READS = b"pyharness-reads"
"""The name of a thread of ours while it holds a process to read it (``reading/live/tracing.py``)."""
_BRIEFLY = 0.02
"""Seconds between two looks."""
_GDB_READS = b"pyharness.ingdb.opening import report"
"""In the command line of a gdb that reads stacks (``debugger/gdb_reading.py``)."""


def is_stopped(pid: int | None) -> bool:
    """Whether a process is stopped by a signal, as Ctrl-Z stops one; not by a debugger."""
    return _state(pid) == "T"


def is_held(pid: int | None) -> bool:
    """Whether a debugger holds a process's main thread, with which the process ends."""
    return _state(pid) == "t"


def has_ended(pid: int | None) -> bool:
    """Whether a process is gone, or a zombie that its parent has not asked for yet."""
    return _state(pid) in _ENDED and lives_on(pid) is None


def is_ending(pid: int) -> bool:
    """Whether a process has ended, or does: the kernel closes what it has open before it counts as a zombie."""
    return all(_ends(f"{pid}/task/{lwp}") for lwp in tasks(pid))


def _ends(thread: str) -> bool:
    fields = _fields(thread)
    return len(fields) <= _FLAGS or fields[0] in _ENDED or bool(int(fields[_FLAGS]) & _PF_EXITING)


def lives_on(pid: int | None) -> int | None:
    """The LWP of a thread that runs on in a process whose main thread has ended by itself (``pthread_exit``)."""
    if _state(pid) != "Z":
        return None
    return next((lwp for lwp in tasks(pid) if _state(f"{pid}/task/{lwp}") not in _ENDED), None)


def rested(pid: int) -> float:
    """Seconds since a process's main thread last ran; 0 where it runs, or the kernel does not tell.

    By the clock of the scheduler, which is only to be compared with itself.
    """
    try:
        return max(0.0, _last_ran("self") - _last_ran(str(pid))) / 1000
    except (OSError, ValueError, IndexError):
        return 0.0


def _last_ran(process: str) -> float:
    """When its main thread was last given a processor, in ms."""
    found = Path(f"/proc/{process}/sched").read_text(encoding="utf-8", errors="replace")
    return float(found.partition("se.exec_start")[2].partition(":")[2].split()[0])


def has_own_proc() -> bool:
    """Whether ``/proc`` is that of this process's PID namespace: else the numbers in it are of other processes."""
    try:
        return os.readlink("/proc/self") == str(os.getpid())  # noqa: PTH115  (one name, at a crash)
    except OSError:
        return False


def tasks(pid: int | None) -> list[int]:
    """The LWPs of a process's threads; none where there is no such process."""
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]  # noqa: PTH208  (a glob fails while it ends)
    except OSError:
        return []


def open_file_limit(pid: int) -> int | None:
    """The number of files that a process may open, where it has them all open; ``None`` where it may open more."""
    try:
        limits = Path(f"/proc/{pid}/limits").read_text(encoding="ascii")
        limit = int(limits.partition("Max open files")[2].split()[0])
        return limit if len(os.listdir(f"/proc/{pid}/fd")) >= limit else None  # noqa: PTH208  (as above)
    except (OSError, ValueError, IndexError):  # it has ended, is another user's, or is not limited
        return None


def computed(pid: int, lwp: int) -> float | None:
    """The seconds of processor time that a thread which computes has had; ``None`` for one that waits or is gone."""
    fields = _fields(f"{pid}/task/{lwp}")
    if fields[:1] != ["R"]:
        return None
    return (int(fields[_USER]) + int(fields[_SYSTEM])) / os.sysconf("SC_CLK_TCK")


def waiting_for_input(pid: int) -> tuple[int, ...]:
    """The threads of a process that read its standard input now, by LWP; none where the kernel does not tell."""
    return tuple(lwp for lwp in tasks(pid) if _system_call(f"{pid}/task/{lwp}")[:2] == _READ_INPUT)


def _system_call(thread: str) -> list[str]:
    """The number and the arguments of the system call that a thread waits in; else a word, or nothing."""
    try:
        return Path(f"/proc/{thread}/syscall").read_text(encoding="utf-8").split()
    except OSError:
        return []


def processor_times(pid: int) -> dict[int, float]:
    """The threads of a process, each with the seconds of processor time that it has had."""
    found = {lwp: _fields(f"{pid}/task/{lwp}") for lwp in tasks(pid)}
    return {
        lwp: (int(fields[_USER]) + int(fields[_SYSTEM])) / os.sysconf("SC_CLK_TCK")
        for lwp, fields in found.items()
        if len(fields) > _SYSTEM
    }


def switches(pid: int) -> str:
    """How often a process's main thread has been switched to and from; the same as before for one that waits."""
    return f"{_status(pid, 'voluntary_ctxt_switches')} {_status(pid, 'nonvoluntary_ctxt_switches')}"


def waits_of_main(pid: int) -> int:
    """How often the main thread of a process has begun to wait; 0 where the kernel does not say."""
    return int(_status(pid, "voluntary_ctxt_switches") or 0)


def started_at(pid: int) -> float:
    """When a process was started, in seconds since the epoch; 0 for one that is gone."""
    ticks = start_of(pid)
    running_for = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    return time.time() - running_for if ticks else 0.0


def start_of(pid: int) -> int:
    """When a process was started, in clock ticks since the boot; 0 where there is none, or only its remains."""
    fields = _fields(pid)
    return int(fields[_STARTED]) if len(fields) > _STARTED and fields[0] not in _ENDED else 0


def program_of(pid: int | None) -> str:
    """What tells the program that a process runs from one that it was before (``exec``).

    The kernel begins the stack of each program elsewhere. Empty for a process that has ended, and where nobody may see.
    """
    fields = _fields(pid)
    return fields[_STACK] if len(fields) > _STACK and fields[_STACK] != "0" else ""


def has_handler(pid: int, number: int) -> bool:
    """Whether a process handles a signal itself: by Python's handlers, or by native code's."""
    return _has_signal(pid, "SigCgt", number)


def ignores(pid: int, number: int) -> bool:
    """Whether a process has a signal ignored."""
    return _has_signal(pid, "SigIgn", number)


def is_pending(pid: int, lwp: int, number: int) -> bool:
    """Whether a signal that was sent to a thread has not come there yet."""
    return _has_signal(f"{pid}/task/{lwp}", "SigPnd", number)


def _has_signal(pid: int | str, which: str, number: int) -> bool:
    return bool(int(_status(pid, which) or "0", 16) >> (number - 1) & 1)


def is_kernel_thread(pid: int) -> bool:
    """Whether it is a thread of the kernel's, which has no program."""
    fields = _fields(pid)
    return len(fields) > _FLAGS and bool(int(fields[_FLAGS]) & _PF_KTHREAD)


def _state(pid: int | str | None) -> str:
    """The letter that the kernel shows for it; empty where there is no such process."""
    return next(iter(_fields(pid)), "")


def _fields(pid: int | str | None) -> list[str]:
    """The fields of ``/proc/PID/stat`` behind the name, from the state on; none where there is no such process."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return status.rpartition(")")[2].split()


def let_go_on(pid: int | None, *, stopped_before: bool, within: float = 0) -> None:
    """Continue a process that a debugger has left stopped: the stop that attaching sends can outlive the debugger.

    One that has just died may hold the process still, and its stop may come afterwards, ``within`` so many seconds.
    """
    ends = time.monotonic() + within
    while pid and not stopped_before:
        if is_stopped(pid):
            with suppress(OSError):
                os.kill(pid, signal.SIGCONT)
            return
        if time.monotonic() >= ends:
            return
        time.sleep(_BRIEFLY)  # the kernel tells of such a stop to the parent alone, which we need not be


def debugger_of(pid: int) -> int:
    """The process that traces another one to debug it; 0 where none does, or one that only reads it for a moment."""
    tracer = tracer_of(pid)
    # One that has just let go has its own name again: then it is not the tracer any more.
    return tracer if tracer and not only_reads(tracer) and tracer_of(pid) == tracer else 0


def tracer_of(pid: int) -> int:
    """The process, or the thread, that traces another one; 0 for none."""
    return int(_status(pid, "TracerPid") or 0)


def parent_of(pid: int) -> int:
    """The process that has started another one, or that has it by now; 0 for none."""
    return int(_status(pid, "PPid") or 0)


def _status(pid: int | str, name: str) -> str:
    """A word of ``/proc/PID/status``; empty where there is none."""
    try:
        status = Path(f"/proc/{pid}/status").read_bytes()
    except OSError:
        return ""
    words = status.partition(f"\n{name}:".encode())[2].split(maxsplit=1)
    return words[0].decode() if words else ""


def only_reads(tracer: int) -> bool:
    """Whether a debugger is a pyharness, or a gdb of its own, that looks and goes in a moment, or has gone."""
    process = Path(f"/proc/{tracer}")
    try:
        return (
            process.joinpath("comm").read_bytes().strip() == READS
            or _GDB_READS in process.joinpath("cmdline").read_bytes()
        )
    except FileNotFoundError:
        return True
    except OSError:
        return False


def descendants(pid: int, group: int | None = None) -> list[int]:
    """The processes that ``pid`` started, and those that they did; of one process ``group`` alone, if one is named."""
    found: list[int] = []
    for lwp in tasks(pid):
        with suppress(OSError):
            for child in map(int, Path(f"/proc/{pid}/task/{lwp}/children").read_text(encoding="ascii").split()):
                if group is None or os.getpgid(child) == group:
                    found += [child, *descendants(child, group)]
    return found

"""Reads a program that is about to end, or that hangs: with gdb where there is one, else by the kernel alone."""

from __future__ import annotations

import os
import signal
import socket
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.aftermath.sanitized import found_by_sanitizer, without_runtime
from pyharness.debugger.gdb_reading import death_by_gdb, dump_by_gdb
from pyharness.model.errors import HarnessError
from pyharness.model.ranks.launchers import told_rank
from pyharness.model.ranks.rank import Rank
from pyharness.model.results.aftermath import Aftermath
from pyharness.model.threads import ThreadStack
from pyharness.model.transcript import signal_name
from pyharness.model.unlocked_call import unlocked_call
from pyharness.ranks.blame.activity import of_rank, of_workers
from pyharness.ranks.looking import workers_below
from pyharness.reading.live.stacks import MAX_FRAMES, read_stacks
from pyharness.reading.process import fault_address
from pyharness.reading.python.frames import PythonFrame
from pyharness.reading.stack.interrupted import of_handlers
from pyharness.reading.stack.merge import python_frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyharness.debugger.gdb_reading import Fault
    from pyharness.model.frames import Frame
    from pyharness.protocol.aftermath import Raised, RaisedFrame, Reported
    from pyharness.ranks.looking import Busy

_WITH_ADDRESS = {signal.SIGSEGV, signal.SIGBUS}
_MOST_WORKERS = 16
"""Child processes of one that hangs that a report has."""
_PROC = (
    "without stacks: /proc there is not that of the program's PID namespace."
    " Mount it anew in that: mount -t proc proc /proc"
)


def of_crash(wanted: Reported, process: int, fault: Fault) -> Aftermath:
    """A process of which a thread waits in our handler of a signal."""
    try:
        death = death_by_gdb(process, fault)
        what, threads, note = death.signal.text, death.threads, ""
    except HarnessError as error:
        threads, unread = _threads(process)
        threads = _first(threads, fault.thread)
        what, note = _by_the_kernel(process, fault, threads), unread or _without_gdb(error)
    below = replace(threads[0], frames=_interrupted(threads[0].frames), signal="") if threads else None
    whole = (below, *threads[1:]) if below else ()
    return Aftermath("crash", wanted.name, wanted.command, *_circumstances(process), what, whole, note=note)


def unread(wanted: Reported, process: int, fault: Fault) -> Aftermath:
    """The report of a process of which nothing can be read: it has what the kernel said of the signal."""
    name = signal_name(fault.number) if fault.number else "an error that a sanitizer has found"
    what = f"{name} at {fault.value:#x}" if fault.number in _WITH_ADDRESS and fault.code > 0 else name
    return Aftermath(
        "crash", wanted.name, wanted.command, process, socket.gethostname(), _now(), None, what, (), note=_PROC
    )


def of_sanitizer(wanted: Reported, process: int, thread: int, report: int) -> Aftermath:
    """A process of which a thread stands at an error; ``report``: the address of what a sanitizer knows of it."""
    what, printed, histories = found_by_sanitizer(process, thread, report)
    threads, note = _with_variables(process)
    threads = _first(threads, thread)
    about = tuple(replace(one, frames=without_runtime(one.frames)) for one in threads[:1])
    return Aftermath(
        "sanitizer",
        wanted.name,
        wanted.command,
        *_circumstances(process),
        what,
        (*about, *threads[1:]),
        traceback=printed,
        note=note,
        histories=histories,
    )


def of_exception(wanted: Reported, raised: Raised) -> Aftermath:
    """A process whose thread waits with an exception that nobody has caught."""
    threads, note = _threads(raised.process)
    known = next((one for one in threads if one.lwp == raised.thread), None)
    where = ThreadStack(raised.thread, known.name if known else "", tuple(map(_raised_through, raised.frames)))
    others = (one for one in threads if one.lwp != raised.thread)
    return Aftermath(
        "exception",
        wanted.name,
        wanted.command,
        *_circumstances(raised.process),
        raised.what,
        (where, *others),
        traceback=raised.traceback,
        note=note,
    )


def _raised_through(frame: RaisedFrame) -> Frame:
    shown = python_frame(PythonFrame(frame.function, frame.file, frame.line))
    return replace(shown, variables=() if shown.plumbing else frame.variables)


def of_hang(wanted: Reported, process: int, what: str, busy: Busy) -> Aftermath:
    """A process that does not go on; it runs on afterwards. ``busy``: its threads that compute."""
    threads, note = _with_variables(process)
    circumstances = _circumstances(process)
    workers = workers_below(process, _MOST_WORKERS)
    doing = of_rank(Rank(None, circumstances[1], process, 0, wanted.name, threads=threads, busy=busy))
    what = f"{what}: it {doing.sentence}{of_workers(workers, doing)}"
    return Aftermath("hang", wanted.name, wanted.command, *circumstances, what, threads, note=note, workers=workers)


def _with_variables(process: int) -> tuple[tuple[ThreadStack, ...], str]:
    """The stacks as gdb shows them, else as the kernel does, and why."""
    try:
        threads, _ = dump_by_gdb(process, thread=None, limit=MAX_FRAMES, variables=True)
    except HarnessError as error:
        threads, unread = _threads(process)
        return threads, unread or _without_gdb(error)
    return threads, ""


def _threads(process: int) -> tuple[tuple[ThreadStack, ...], str]:
    """The stacks as the kernel alone shows them, or none and why."""
    try:
        return read_stacks(process).threads, ""
    except HarnessError as error:
        return (), f"without stacks: {error.message}"


def _without_gdb(error: HarnessError) -> str:
    return f"without variables: {error.message}"


def _circumstances(process: int) -> tuple[int, str, str, int | None]:
    """Process, host, time and rank."""
    told = told_rank(_environment(process))
    return process, socket.gethostname(), _now(), told[0] if told else None


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")


def _environment(process: int) -> dict[str, str]:
    """What it was started with; nothing where that cannot be read."""
    try:
        words = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    except OSError:
        return {}
    return dict(os.fsdecode(word).split("=", 1) for word in words if b"=" in word)


def _first(threads: Sequence[ThreadStack], lwp: int) -> tuple[ThreadStack, ...]:
    """The threads, that one before the others."""
    return tuple(sorted(threads, key=lambda one: one.lwp != lwp))


def _interrupted(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """Frames below those of a signal's handler."""
    return frames[of_handlers(frames) :] or frames


def _by_the_kernel(process: int, fault: Fault, threads: Sequence[ThreadStack]) -> str:
    """The signal, and what lies at its address; what the program said last takes a gdb."""
    name = signal_name(fault.number)
    if fault.code <= 0 or name.startswith(("SIGFPE", "SIGILL", "SIGABRT")):
        return name
    called = _python_call(threads)
    try:
        maps = Path(f"/proc/{process}/maps").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return f"{name} at {fault.value:#x}{f': {called}' if called else ''}"
    lies = fault_address.described(fault.value, fault_address.areas(maps), 0)
    return f"{name} at {fault.value:#x}: {'; '.join(filter(None, (called, lies)))}"


def _python_call(threads: Sequence[ThreadStack]) -> str:
    """What was wrong with the call of Python's C API in which the first thread stands; empty for nothing."""
    if not threads or threads[0].holds_gil:
        return ""
    python_runs = any(frame.language == "python" for one in threads for frame in one.frames)
    return unlocked_call(_interrupted(threads[0].frames), python_runs=python_runs)

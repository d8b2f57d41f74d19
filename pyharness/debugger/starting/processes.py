"""Finds the running process that a person means, and says beforehand why it could not be debugged."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from pyharness.host import handles, process_state
from pyharness.host.loader import words_of
from pyharness.host.process_state import debugger_of, is_kernel_thread, lives_on
from pyharness.model.errors import HarnessError, UsageError, nearest

_PROC = Path("/proc")
_YAMA = Path("/proc/sys/kernel/yama/ptrace_scope")
_LONGEST = 100
_MOST_DIGITS = 100
_SHORTEST = 2
"""Characters of a part of a command line: one is in almost any."""
_MOST_OF_NAME = 64
"""Bytes of a thread's name: the kernel keeps 16, and more only of its own threads."""
_ALIKE = 0.65
"""What may be a slip of the pen for another name: hundreds of words are asked, and some are a little like any."""
_HOW_TO_NAME = "Name it by its PID, or by its handle: `pyharness run --list` shows those."


def find(wanted: str) -> int:
    """The process that ``wanted`` is the id or the handle of, or the one with it in its command line.

    Where several have it, the one that runs Python is meant rather than the shell or the editor around it, and rather
    than the workers that it forked.
    """
    wanted, given = wanted.strip(), wanted
    if wanted.isascii() and wanted.isdecimal():
        if len(wanted) > _MOST_DIGITS:
            raise UsageError("There is no process with so long a number.", _HOW_TO_NAME)
        return _alive(int(wanted))
    live = handles.live()
    for handle in live:
        if handle.name == wanted:
            return handle.pid
    if len(wanted) < _SHORTEST:
        raise UsageError(f"{given!r} names no process.", _HOW_TO_NAME)
    running = _command_lines()
    found = {pid: line for pid, line in running.items() if wanted in line}
    parents = {pid: process_state.parent_of(pid) for pid in found}
    pythons = [pid for pid in found if _runs_python(pid)]
    programs = [pid for pid in pythons if found.get(parents[pid]) != found[pid]]
    for candidates in (list(found), pythons, programs):
        if len(candidates) == 1:
            return candidates[0]
    if not found:
        words = {name for line in running.values() for word in line.split()[:4] if _is_name(name := Path(word).name)}
        near = nearest(wanted, [*(handle.name for handle in live), *sorted(words)], alike=_ALIKE)
        raise UsageError(f"No process of yours has {wanted!r} in its command line.", near or _HOW_TO_NAME)
    shown = sorted(programs or found)
    notes = {pid: f"  (a child of {parents[pid]})" for pid in shown if parents[pid] in shown}
    listed = "\n".join(f"  {pid:>7}  {found[pid][:_LONGEST]}{notes.get(pid, '')}" for pid in shown)
    raise UsageError(f"{len(shown)} processes have {wanted!r} in their command line:\n{listed}", "Name one by its PID.")


def running_python() -> dict[int, str]:
    """PID → command line of this user's Python processes, without this command and what started it."""
    return {pid: line for pid, line in _command_lines().items() if _runs_python(pid)}


def check(pid: int) -> None:
    """Raise what is known beforehand to keep a debugger from attaching; what is not, gdb says."""
    found = status(pid)
    if thread := lives_on(pid):
        raise HarnessError(
            f"The main thread of process {pid} has ended, and others run on: the system lets no debugger attach to it.",
            f"`pyharness stack {thread}` shows it, by the id of a thread that runs.",
        )
    if found.get("State", "").startswith("Z"):
        raise HarnessError(
            f"Process {pid} has ended; its parent has not collected its exit status yet.",
            "There is nothing left to look at.",
        )
    if tracer := debugger_of(pid):
        raise HarnessError(
            f"Process {pid} is already being debugged, by process {tracer} ({command_line(tracer)[:_LONGEST]}).",
            "Only one debugger can be attached at a time: end that one first.",
        )
    if os.geteuid() == 0:
        return
    if int(found.get("Uid", "0").split()[0]) != os.getuid():
        raise HarnessError(f"Process {pid} belongs to another user.", "Only root (sudo) may attach to it.")
    forbidden = refused_by_yama(yama_scope())
    if forbidden:
        raise forbidden


def check_apart(pid: int) -> None:
    """Raise where a stop of the process could stop the debugger: it is this one, or one of its ancestors.

    Process 1 is everybody's, also of what it neither started nor serves.
    """
    if pid == os.getpid():
        raise HarnessError(
            f"Process {pid} is the debugger itself: stopped, it could not have itself go on.",
            "Attach from another process.",
        )
    if pid != 1 and pid in _ancestors():
        raise HarnessError(
            f"Process {pid} ({command_line(pid)[:_LONGEST]}) is an ancestor of this debugger, which may wait for it.",
            "Attach from a process that does not come of it. `pyharness stack` shows where it stands.",
        )


def yama_scope() -> int:
    """``kernel.yama.ptrace_scope``: 0 (also where the kernel has no Yama) to 3."""
    return int(_YAMA.read_text(encoding="ascii")) if _YAMA.is_file() else 0


def refused_by_yama(scope: int) -> HarnessError | None:
    """The error of a scope in which a user who is not root can attach to nothing."""
    if scope == 2:
        return HarnessError("This system lets only root attach (kernel.yama.ptrace_scope is 2).", "Use sudo.")
    if scope == 3:
        return HarnessError(
            "This system lets nobody attach (kernel.yama.ptrace_scope is 3).",
            "It stays so until the next boot: ask whoever administers it.",
        )
    return None


def tasks(pid: int) -> dict[int, str]:
    """The threads of a process: LWP → the kernel's name."""
    return {lwp: _name_of(f"{_PROC}/{pid}/task/{lwp}") for lwp in process_state.tasks(pid)}


def _name_of(task: str) -> str:
    """The kernel's name of a thread; without a stream, as an editor asks at each stop, and a program may have many."""
    try:
        comm = os.open(f"{task}/comm", os.O_RDONLY)
    except OSError:  # it ended just now
        return ""
    try:
        return os.read(comm, _MOST_OF_NAME).decode(errors="replace").strip()
    except OSError:
        return ""
    finally:
        os.close(comm)


def _is_name(word: str) -> bool:
    """Whether a person would name a process by it, and not by an option or a number."""
    return word[:1].isalpha() or word[:1] == "_"


def _alive(pid: int) -> int:
    if not (_PROC / str(pid)).exists():
        raise UsageError(f"There is no process {pid}.", "A name works too: a part of its command line.")
    if is_kernel_thread(pid):
        name = (_PROC / str(pid) / "comm").read_text(encoding="utf-8", errors="replace").strip()
        raise UsageError(f"Process {pid} is a thread of the kernel ({name}): it runs no program.", _HOW_TO_NAME)
    return pid


def status(pid: int) -> dict[str, str]:
    """The lines of ``/proc/PID/status``; ``UsageError`` where there is no such process."""
    try:
        lines = (_PROC / str(pid) / "status").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise UsageError(f"There is no process {pid}.", _HOW_TO_NAME) from error
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _command_lines() -> dict[int, str]:
    """PID → command line of this user's processes, without this command and what started it."""
    own = _ancestors()
    pids = [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()]
    return {pid: line for pid in pids if pid not in own and (line := _own_command_line(pid))}


def _own_command_line(pid: int) -> str:
    try:
        return command_line(pid) if (_PROC / str(pid)).stat().st_uid == os.getuid() else ""
    except OSError:
        return ""


def command_line(pid: int) -> str:
    """The command line on one line, without control characters; empty where it cannot be read."""
    line = " ".join(words_of(pid))
    return " ".join("".join(char if char.isprintable() else " " for char in line).split())


def _runs_python(pid: int) -> bool:
    return _executable(pid).startswith("python")


def _executable(pid: int) -> str:
    try:
        return (_PROC / str(pid) / "exe").readlink().name
    except OSError:
        return ""


def _ancestors() -> set[int]:
    known: set[int] = set()
    pid = os.getpid()
    with suppress(UsageError):  # one of them ends just now, as what has started a prompt in place does
        while pid > 0 and pid not in known:
            known.add(pid)
            pid = int(status(pid).get("PPid", "0"))
    return known

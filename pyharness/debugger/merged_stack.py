"""The merged stack of a thread: gdb's where that stopped it, else debugpy's with the native frames between.

Of a thread that no Python has called, as of OpenMP's, the stack goes on with that of the thread for which it works.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen
from pyharness.reading.stack.shared_work import has_work, waiting

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyharness.debugger.native.side import NativeSide
    from pyharness.debugger.shell import Shell
    from pyharness.model.frames import Frame

_MOST_LOOKED_AT = 16
"""Threads that are held, one after the other, to find the one for which another works."""


@frozen
class StackFrame:
    """A frame of a thread that stands, and who can look into it."""

    thread: int
    level: int
    """The frame's index in gdb's merged stack of the thread; -1 where only debugpy was asked."""
    frame: Frame
    debugpy: int | None = None
    """debugpy's id of a Python frame that it can look into."""


def merged_stack(shell: Shell, thread: int) -> list[StackFrame]:
    """The stack, innermost frame first; empty for a thread that runs, where gdb is not there to hold it.

    The frames of the thread that it works for, if any, are behind its own.
    """
    stack = _merged(shell, thread)
    shell.sources.shown(each.frame for each in stack)
    return stack


def _merged(shell: Shell, thread: int) -> list[StackFrame]:
    focus = shell.machine.focus
    stands = focus is not None and thread == focus.thread
    if stands and focus is not None and focus.language == "python":
        return _between(shell, thread, python_frames(shell, thread))
    native = shell.attach() if stands else shell.native
    if native is None:
        return []
    own = _numbered(thread, native.stack(thread) if stands else native.stack_of_other(thread))
    if not own or _has_python(own) or not (stands or has_work([each.frame for each in own])):
        return own
    return [*own, *_of_owner(shell, native, own)]


def owner_frames(shell: Shell, native: NativeSide, thread: int) -> list[StackFrame]:
    """The frames, of the thread for which one that stands works, that wait for it; empty where there is none."""
    own = _numbered(thread, native.stack(thread))
    return [] if not own or _has_python(own) else _of_owner(shell, native, own)


def _of_owner(shell: Shell, native: NativeSide, own: Sequence[StackFrame]) -> list[StackFrame]:
    """The frames of the thread for whose Python another one works, from those on that wait for it; empty for none."""
    thread = own[0].thread
    for owner in native.owners_of(thread):
        frames, holder = native.stack_of_owner(owner)
        if _has_python(waiters := _numbered(owner.thread, frames)[holder:]):
            return waiters
    waits_at = waiting([each.frame for each in own])
    for candidate in _called_by_python(shell, thread) if waits_at else ():
        frames = native.stack_of_other(candidate)
        if waits_at and (level := waits_at(frames)) and _has_python(waiters := _numbered(candidate, frames)[level:]):
            return waiters
    return []


def _called_by_python(shell: Shell, thread: int) -> list[int]:
    """Threads that Python knows, but for one of them: those that began last first, and no more than can be held."""
    tasks = shell.tasks
    named = {lwp for lwp, name in shell.thread_names(tasks).items() if name and lwp in tasks}
    latest = sorted(named - {thread, shell.process.pid}, reverse=True)[:_MOST_LOOKED_AT]
    return [lwp for lwp in (*latest, shell.process.pid) if lwp != thread]


def _has_python(stack: Iterable[StackFrame]) -> bool:
    return any(each.frame.language == "python" for each in stack)


def python_frames(shell: Shell, thread: int, levels: int = 0) -> list[StackFrame]:
    """debugpy's frames of a thread that it holds, the innermost ``levels`` or (0) all."""
    entries = shell.python.raw_frames(thread, levels)
    return [StackFrame(thread, -1, shell.python.frame_of(entry), entry["id"]) for entry in entries]


def python_place(stack: Sequence[Frame], wanted: Frame) -> tuple[str, int, int]:
    """How the agent is told of a Python frame of a stack: its file, its line, and which of several there."""
    same = [each for each in stack if each.language == "python" and _is_same(each, wanted)]
    nth = next((index for index, each in enumerate(same) if each is wanted), 0)
    return wanted.file or "", wanted.line or 0, nth


def python_callers(stack: Sequence[StackFrame], shown: StackFrame) -> list[StackFrame]:
    """The user's Python frames from one of a stack outwards; that one alone where it is Python itself."""
    if shown.frame.language == "python":
        return [shown]
    place = shown.thread, max(shown.level, 0)
    at = next((index for index, each in enumerate(stack) if (each.thread, max(each.level, 0)) == place), 0)
    return [each for each in stack[at:] if each.frame.language == "python" and not each.frame.plumbing]


def _numbered(thread: int, frames: Iterable[Frame]) -> list[StackFrame]:
    return [StackFrame(thread, level, frame) for level, frame in enumerate(frames)]


def _between(shell: Shell, thread: int, python: list[StackFrame]) -> list[StackFrame]:
    """debugpy's frames, which can be looked into, with the native ones between them as far as gdb is there."""
    if shell.native is None or not python:
        return python
    whole = shell.native.stack_of_other(thread)
    first = _index(python[0].frame, whole)
    waiting = list(python)
    shown = []
    for level, frame in enumerate(whole[first:], first):
        known = frame.language == "python" and waiting and _is_same(waiting[0].frame, frame)
        own = waiting.pop(0) if known else None
        shown.append(StackFrame(thread, level, own.frame if own else frame, own.debugpy if own else None))
    return python if waiting else shown


def _index(innermost: Frame, whole: Sequence[Frame]) -> int:
    """Where the user's part of a stack begins: further in lies debugpy, which holds the thread."""
    found = (index for index, frame in enumerate(whole) if frame.language == "python" and _is_same(innermost, frame))
    return next(found, len(whole))


def _is_same(one: Frame, other: Frame) -> bool:
    return (one.file, one.line) == (other.file, other.line)

"""The merged stack of a thread: gdb's where that stopped it, else debugpy's with the native frames between."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyharness.debugger.shell import Shell
    from pyharness.model.frames import Frame


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
    """The stack, innermost frame first; empty for a thread that runs, where gdb is not there to hold it."""
    stack = _merged(shell, thread)
    shell.sources.shown(each.frame for each in stack)
    return stack


def _merged(shell: Shell, thread: int) -> list[StackFrame]:
    focus = shell.machine.focus
    if focus is not None and thread == focus.thread:
        if focus.language == "native":
            return _numbered(thread, shell.attach().stack(thread))
        return _between(shell, thread, python_frames(shell, thread))
    return _numbered(thread, shell.native.stack_of_running(thread)) if shell.native else []


def python_frames(shell: Shell, thread: int, levels: int = 0) -> list[StackFrame]:
    """debugpy's frames of a thread that it holds, the innermost ``levels`` or (0) all."""
    entries = shell.python.raw_frames(thread, levels)
    return [StackFrame(thread, -1, shell.python.frame_of(entry), entry["id"]) for entry in entries]


def python_place(stack: Sequence[Frame], wanted: Frame) -> tuple[str, int, int]:
    """How the agent is told of a Python frame of a stack: its file, its line, and which of several there."""
    same = [each for each in stack if each.language == "python" and _is_same(each, wanted)]
    nth = next((index for index, each in enumerate(same) if each is wanted), 0)
    return wanted.file or "", wanted.line or 0, nth


def _numbered(thread: int, frames: Iterable[Frame]) -> list[StackFrame]:
    return [StackFrame(thread, level, frame) for level, frame in enumerate(frames)]


def _between(shell: Shell, thread: int, python: list[StackFrame]) -> list[StackFrame]:
    """debugpy's frames, which can be looked into, with the native ones between them as far as gdb is there."""
    if shell.native is None or not python:
        return python
    whole = shell.native.stack_of_running(thread)
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

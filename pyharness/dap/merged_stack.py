"""The merged stack of a thread: gdb's where that stopped it, else debugpy's with the native frames between."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.dap.tables import ShownFrame
from pyharness.debugger.program import from_frame

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyharness.dap.session import Session
    from pyharness.debugger.shell import Shell
    from pyharness.model.frames import Frame


def whole_stack(session: Session, thread: int) -> list[ShownFrame]:
    """The merged stack of a thread, read once a stop; empty while the program runs."""
    stacks = session.frames.stacks
    if session.require_program().machine.focus is None:
        return []
    if thread not in stacks:
        stacks[thread] = _read(session, thread)
    return stacks[thread]


def python_frames(shell: Shell, thread: int, levels: int = 0) -> list[ShownFrame]:
    """debugpy's frames of a thread that it holds, the innermost ``levels`` or (0) all."""
    entries = shell.python.raw_frames(thread, levels)
    return [ShownFrame(thread, -1, shell.python.frame_of(entry), entry["id"]) for entry in entries]


def _read(session: Session, thread: int) -> list[ShownFrame]:
    shell, focus = session.require_program(), session.require_program().machine.focus
    if focus is not None and thread == focus.thread:
        return _numbered(thread, shell.attach().stack(thread)) if focus.language == "native" else _merged(shell, thread)
    return _numbered(thread, shell.native.stack_of_running(thread)) if shell.native else []


def _numbered(thread: int, frames: Iterable[Frame]) -> list[ShownFrame]:
    return [ShownFrame(thread, level, frame) for level, frame in enumerate(frames)]


def _merged(shell: Shell, thread: int) -> list[ShownFrame]:
    """debugpy's frames, which can be looked into, with the native ones between them as far as gdb is there."""
    python = python_frames(shell, thread)
    if shell.native is None or not python:
        return python
    whole = shell.native.stack_of_running(thread)
    merged = from_frame(python[0].frame, whole)
    first = len(whole) - len(merged)
    waiting = list(python)
    shown = []
    for level, frame in enumerate(merged, first):
        known = frame.language == "python" and waiting and _is_same(waiting[0].frame, frame)
        own = waiting.pop(0) if known else None
        shown.append(ShownFrame(thread, level, own.frame if own else frame, own.debugpy if own else None))
    return shown if not waiting else python


def _is_same(one: Frame, other: Frame) -> bool:
    return (one.file, one.line) == (other.file, other.line)

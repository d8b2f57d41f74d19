"""A stop as every front door tells it: where and why, and what a step says of itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyharness.debugger.native.signals import NativeSignals
from pyharness.model.frames import Frame
from pyharness.model.kernel_frames import kernel_called
from pyharness.model.source_map import map_of
from pyharness.model.stops import Stop

if TYPE_CHECKING:
    from pyharness.debugger.shell import Shell
    from pyharness.debugger.stop import Stopped
    from pyharness.protocol.mi import Armed

_DEBUG_KERNELS = "Begin with --debug-kernels (debug_kernels, debugKernels): then it has them."


def described(shell: Shell, stopped: Stopped, origin: Frame | None) -> Stop:
    """The stop; ``origin`` is the frame that a step began at, where it was one."""
    note = ""
    if stopped.language == "python":
        frame = shell.python.stack(stopped.thread, 8)[0]
    else:
        place = shell.attach().where(stopped.thread)
        frame, note = (
            Frame("native", place.function, place.file, place.line, fx=place.fx, library=place.library),
            place.note,
        )
    shell.sources.shown([frame])
    return explained(shell, stopped, Stop(stopped.reason, frame, stopped.thread, note=note), origin)


def explained(shell: Shell, stopped: Stopped, stop: Stop, origin: Frame | None) -> Stop:
    """The stop with a note: which signal, which condition failed, why a step from ``origin`` went nowhere."""
    failed = shell.failed_conditions.pop(stopped.thread, None) if stopped.reason == "breakpoint" else None
    if failed and (problem := failed.at(stop.frame.line)):
        return replace(stop, note=problem, condition_failed=True)
    if stopped.reason == "signal":
        return replace(stop, note=NativeSignals(shell.attach()).info(stopped.thread).text)
    if stopped.ran_nothing:
        return replace(stop, note=why_nothing(origin, stop.frame, shell.armed))
    return stop


def why_nothing(origin: Frame | None, now: Frame, armed: Armed) -> str:
    """Why an *into* from ``origin`` ended at a Python line, with what it had armed."""
    if origin is None or (origin.function, origin.file) != (now.function, now.file):
        return ""
    source_map = map_of(origin.file) if origin.file else None
    entry = source_map.at(origin.line) if source_map and origin.line else None
    if source_map and (kernel := kernel_called(origin)):
        return f"{kernel} has no line tables: torch built it without -g. {_DEBUG_KERNELS}"
    ran = entry.target if entry else f"line {origin.line}"
    if armed.lost:
        return f"{ran} ran no native code of yours that a step can stop in: {armed.lost}"
    if not armed.functions:
        return f"{ran} ran no native code of yours: no loaded library of yours has line tables (-g, and not stripped)"
    return f"{ran} ran none of your {armed.functions} native functions"

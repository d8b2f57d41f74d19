"""Stops a program at Python lines for a gdb that is alone: no debugpy, no controller.

Lines are watched by the interpreter's own means (``sys.settrace``, from 3.12 on ``sys.monitoring``), only in code that
has places. At a place the program calls a C function that does nothing; gdb has its breakpoint there.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.debuggee import agent
from pyharness.debuggee.bounded import BOUNDS
from pyharness.debuggee.lines.frame_expressions import bounded_value
from pyharness.debuggee.lines.stop_places import Place, Places
from pyharness.debuggee.pydevd.steps.stepping import user_frame
from pyharness.debuggee.unpatched import threading
from pyharness.debuggee.watched.op_places import OP_PLACES
from pyharness.model.user_code import is_user_python
from pyharness.native.breakpoint_actions import stop_with
from pyharness.protocol.agent import ArmStep, CancelStep, SetStops

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from pyharness.native.breakpoint_actions import Answer
    from pyharness.native.breakpoints import Hit
    from pyharness.protocol.agent import OpPlace

ENVIRONMENT = "PYHARNESS_STOPS"
"""Environment variable with the places, as JSON, for a program that gdb is about to run."""


@dataclass
class Step:
    """A step that is under way on one thread."""

    into: bool
    frames: set[int] = field(default_factory=set)
    """Identities of the live frames in which it ends at the next line."""


class LineStops:
    """Decides at each watched line whether the program stops there."""

    def __init__(self, trap: Callable[[str, int, str, str], None]) -> None:
        self.places = Places()
        self.steps: dict[int, Step] = {}
        self._trap = trap

    def wants(self, frame: FrameType) -> bool:
        """Whether this frame's lines need to be watched now."""
        if self.steps:
            step = self.steps.get(threading.get_ident())
            if step and (id(frame) in step.frames or (step.into and is_user_file(frame.f_code.co_filename))):
                return True
        return self.places.in_code(frame.f_code)

    def line(self, frame: FrameType) -> bool:
        """``frame`` is about to run its line; whether anything may still stop at this line later on."""
        places = self.places.lines_of(frame.f_code.co_filename).get(frame.f_lineno, ())
        stepped = self._ends_step(frame) if self.steps else False
        if not places and not stepped:
            return bool(self.steps)
        here, notes = [], []
        for place in places:
            place.runs += 1
            holds, note = _holds(place, frame)
            if holds:
                place.reached = True
                here.append(place.number)
                notes += [note] if note else []
        if here or stepped:
            why = json.dumps({"stops": here, "step": stepped, "notes": notes})
            if stepped:  # of a place gdb may know that it is deleted, disabled or ignored
                self.steps.pop(threading.get_ident(), None)
            self._trap(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name, why)
        return True

    def left(self, frame: FrameType) -> None:
        """``frame`` returns or unwinds: a later frame at its address is another one."""
        step = self.steps.get(threading.get_ident())
        if step is not None:
            step.frames.discard(id(frame))

    def arm(self, mode: str) -> bool:
        """Begin a step on this thread: ``over``, ``in`` or ``out``; whether it runs a frame of the user's."""
        innermost = frame = user_frame()
        step = Step(into=mode == "in")
        while frame is not None:
            if is_user_file(frame.f_code.co_filename) and not (mode == "out" and frame is innermost):
                step.frames.add(id(frame))
            frame = frame.f_back
        if innermost is not None:
            self.steps[threading.get_ident()] = step
        return innermost is not None

    def _ends_step(self, frame: FrameType) -> bool:
        step = self.steps.get(threading.get_ident())
        if step is None:
            return False
        return id(frame) in step.frames or (step.into and is_user_file(frame.f_code.co_filename))


@lru_cache(maxsize=4096)
def is_user_file(path: str) -> bool:
    """``is_user_python``, remembered: a tracer asks it for each call."""
    return is_user_python(path)


def _holds(place: Place, frame: FrameType) -> tuple[bool, str]:
    """Whether the person's condition holds here; a condition that fails stops too, with a note."""
    if not place.condition:
        return True, ""
    with BOUNDS.shared(often=True):
        held, problem = bounded_value(bool, place.condition, frame)
    return (True, f"condition {place.condition!r} failed: {problem}") if problem else (held, "")


def start(stops_file: str | None = None) -> None:
    """Watch for the places in ``stops_file`` or in ``$PYHARNESS_STOPS``, and let gdb ask for more at any stop."""
    text = os.environ.pop(ENVIRONMENT, "")  # not for the programs that this one starts
    if not agent.start():
        _follow_generated_code(Places())  # a stack shows generated lines all the same
        return
    from pyharness import _trap

    stops = LineStops(_trap.python_line)
    watch = _watcher(stops)
    OP_PLACES.start(_stop_at_op)
    _answer_requests(stops, watch)
    _follow_generated_code(stops.places)
    atexit.register(lambda: _trap.program_ends(json.dumps({"unreached": list(stops.places.unreached())})))
    if stops_file is not None:
        text = Path(stops_file).read_text(encoding="utf-8")
    if text:
        _set(stops, SetStops.from_json(json.loads(text)))
        watch()


def _set(stops: LineStops, asked: SetStops) -> None:
    """Exactly these: lines, and ops and autograd nodes wherever they are called."""
    OP_PLACES.replace(place.op for place in asked.stops if place.op)
    stops.places.replace([place for place in asked.stops if not place.op or _has_lines(place.op)])


def _has_lines(op: OpPlace) -> bool:
    """Whether generated lines may call it, which stop for it."""
    return op.kind == "op" and not op.when


def _stop_at_op(place: OpPlace | None, hit: Hit) -> Answer:
    return stop_with(hit, places=(int(place.known_as),) if place else (), step=place is None)


def _watcher(stops: LineStops) -> Callable[[], None]:
    """What to call after the places or steps have changed."""
    if sys.version_info >= (3, 12):
        from pyharness.debuggee.lines.line_monitoring import Monitoring

        return Monitoring(stops).refresh
    from pyharness.debuggee.lines.line_tracing import Tracing

    return Tracing(stops).refresh


def _follow_generated_code(places: Places) -> None:
    from pyharness.debuggee.watched import generated

    generated.install(places.generated)


def _answer_requests(stops: LineStops, watch: Callable[[], None]) -> None:
    @agent.handles(SetStops)
    def set_stops(request: SetStops) -> None:
        _set(stops, request)
        watch()

    @agent.handles(ArmStep)
    def arm_step(request: ArmStep) -> bool:
        armed = stops.arm(request.mode)
        watch()
        return armed

    @agent.handles(CancelStep)
    def cancel_step(_request: CancelStep) -> None:
        stops.steps.pop(threading.get_ident(), None)

"""Breakpoints and log points at lines of Python: when one stops, and what one prints, in place of pydevd's own."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.bounded import BOUNDS
from pyharness.debuggee.lines.frame_expressions import bounded_value
from pyharness.debuggee.pydevd.emptied_modules import KEPT_MODULES
from pyharness.debuggee.pydevd.sent import send, wait_until_sent
from pyharness.debuggee.unpatched import threading
from pyharness.model.conditions import hits, log_message
from pyharness.protocol.pydevd import AtLine, ConditionFailed, PointLogged

if TYPE_CHECKING:
    from types import FrameType

    from pyharness.protocol.pydevd import Data, Wanted


class Conditions:
    """Tests the conditions of one pydevd debugger, in place of its ``handle_breakpoint_condition``.

    One that raises, or takes too long, does not reach the program, and stops it, as in pdb and gdb; a log point says
    so, and goes on. pydevd's own takes it for one that does not hold, and says nothing of a ``NameError``.
    """

    def __init__(self, debugger: Any) -> None:
        self._debugger = debugger
        self._express = debugger.handle_breakpoint_expression
        self._hits: Counter[int] = Counter()
        """How often the condition of each breakpoint held, in this session."""
        self._failed: Counter[tuple[str, int, str]] = Counter()
        self._said = 0
        """How much was told so far."""

    def hold(self, _info: Any, breakpoint_: Any, frame: FrameType) -> bool:
        """Whether the program stops at this breakpoint, whose line ``frame`` is about to run."""
        KEPT_MODULES.put_back()
        if breakpoint_.handle_hit_condition(frame):
            return True
        if not breakpoint_.condition:
            return False
        logs = bool(getattr(breakpoint_, "is_logpoint", False))  # one of a client without the harness
        at_line, said = AtLine.in_condition(breakpoint_.condition), self._said
        with BOUNDS.shared(often=True):  # each of them is asked: it counts its hits, or prints
            stops = any([self._stops(each, frame, logs=logs or bool(each.log)) for each in at_line.wanted])  # noqa: C419
        if self._said != said:  # the program may die at its next line, of which that tells
            wait_until_sent(self._debugger)
        return stops

    def express(self, breakpoint_: Any, info: Any, frame: FrameType) -> None:
        """What a log point says there, in place of pydevd's ``handle_breakpoint_expression``."""
        KEPT_MODULES.put_back()
        with BOUNDS.shared(often=True):
            BOUNDS.run(lambda: self._express(breakpoint_, info, frame))

    def _stops(self, wanted: Wanted, frame: FrameType, *, logs: bool) -> bool:
        if wanted.function and frame.f_code.co_name != wanted.function:  # it is being defined
            return False
        if wanted.frame and id(frame) != _known_as(wanted.frame):  # another call of it
            return False
        if wanted.condition:
            held, problem = bounded_value(bool, wanted.condition, frame)
            if problem:
                self._fail(wanted.condition, frame, problem, logs=logs)
                return not logs
            if not held:
                return False
        self._hits[wanted.number] += 1
        if not hits.holds(wanted.hits, self._hits[wanted.number]):
            return False
        if wanted.log:
            self._send(f"{log_message.shortened(_message(wanted.log, frame))}\n", "stdout", PointLogged(wanted.number))
        return not wanted.log

    def _fail(self, condition: str, frame: FrameType, problem: str, *, logs: bool) -> None:
        """Tell it; a log point, which never stops, tells it ever more rarely."""
        place = frame.f_code.co_filename, frame.f_lineno, condition
        self._failed[place] += 1
        text = failure(condition, frame, problem, self._failed[place])
        if not logs:
            data = ConditionFailed(text, threading.get_native_id(), frame.f_lineno)
            self._send(f"{text}\n", "important", data)
        elif str(self._failed[place]).strip("0") == "1":
            self._send(f"{text}\n", "important", None)

    def _send(self, text: str, category: str, data: Data[None] | None) -> None:
        self._said += 1
        send(self._debugger, text, category, data)


def _known_as(number: int) -> int:
    """The ``id`` of the frame that a client of debugpy's knows by this number."""
    from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema

    known: int = BaseSchema._translate_id_from_dap(number)  # pydevd has no other name for it
    return known


def failure(condition: str, frame: FrameType, problem: str, count: int) -> str:
    """What a person is told of a condition that raised."""
    often = f" ({count} times so far)" if count > 1 else ""
    return (
        f"The condition {condition!r} at {frame.f_code.co_filename}:{frame.f_lineno} "
        f"raised {problem.rstrip('.')}{often}."
    )


def _message(log: str, frame: FrameType) -> str:
    texts, values = _parts(log)
    shown = (bounded_value(str, value, frame) for value in values)
    said = [f"<{problem}>" if problem else value for value, problem in shown]
    return texts[0] + "".join(value + text for value, text in zip(said, texts[1:]))  # noqa: B905


@lru_cache(maxsize=256)
def _parts(log: str) -> tuple[list[str], list[str]]:
    """The texts of a message, and Python's code for the values between them."""
    texts, values = log_message.parts(log)
    return texts, [log_message.python_of(value) or repr("<no Python>") for value in values]

"""Conditions and log messages of Python breakpoints: one that raises does not reach the program, and is told."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.bounded import told
from pyharness.debuggee.contained import CONTAINMENT
from pyharness.debuggee.lines.frame_expressions import evaluated
from pyharness.debuggee.pydevd import emptied_modules

if TYPE_CHECKING:
    from types import FrameType

_WITH_HITS = re.compile(r"\(\n(.*)\n\) and __import__\('pyharness\..*", re.DOTALL)
"""A condition that ``debugger/python/lines.py`` has put together with a hit condition."""


class Conditions:
    """Tests the conditions of one pydevd debugger, in place of its ``handle_breakpoint_condition``.

    One that raises stops the program, as in pdb and gdb. pydevd's own takes it for one that does not hold, and says
    nothing of a ``NameError``.
    """

    def __init__(self, debugger: Any) -> None:
        self._debugger = debugger
        self._express = debugger.handle_breakpoint_expression
        self._failed: dict[tuple[str, int, str], int] = {}

    def hold(self, _info: Any, breakpoint_: Any, frame: FrameType) -> bool:
        """Whether the program stops at this breakpoint, whose line ``frame`` is about to run."""
        emptied_modules.put_back()
        if breakpoint_.handle_hit_condition(frame):
            return True
        if not breakpoint_.condition:
            return False
        CONTAINMENT.enter()
        try:
            return bool(evaluated(breakpoint_.condition, frame))
        except KeyboardInterrupt:  # Ctrl-C came to the program at this moment: it is the program's
            raise
        except BaseException as error:  # noqa: BLE001  (whatever the user's expression raises)
            problem = told(error)
        finally:
            CONTAINMENT.leave()
        return self._fail(breakpoint_, frame, problem)

    def express(self, breakpoint_: Any, info: Any, frame: FrameType) -> None:
        """What a log point says there, in place of pydevd's ``handle_breakpoint_expression``."""
        emptied_modules.put_back()
        CONTAINMENT.enter()
        try:
            self._express(breakpoint_, info, frame)
        finally:
            CONTAINMENT.leave()

    def _fail(self, breakpoint_: Any, frame: FrameType, problem: str) -> bool:
        """Tell it; a log point, which never stops, tells it ever more rarely."""
        place = frame.f_code.co_filename, frame.f_lineno, breakpoint_.condition
        count = self._failed[place] = self._failed.get(place, 0) + 1
        stops = not getattr(breakpoint_, "is_logpoint", False)
        if stops or str(count).strip("0") == "1":
            self._tell(failure(breakpoint_.condition, frame, problem, count), frame.f_lineno, stops=stops)
        return stops

    def _tell(self, text: str, line: int, *, stops: bool) -> None:
        from _pydevd_bundle._debug_adapter.pydevd_schema import OutputEvent, OutputEventBody
        from _pydevd_bundle.pydevd_comm_constants import CMD_WRITE_TO_CONSOLE
        from _pydevd_bundle.pydevd_net_command import NetCommand

        data = {"condition": text, "thread": threading.get_native_id(), "line": line, "stops": stops}
        event = OutputEvent(OutputEventBody(f"{text}\n", "important", data=data))
        self._debugger.writer.add_command(NetCommand(CMD_WRITE_TO_CONSOLE, 0, event, is_json=True))


def failure(condition: str, frame: FrameType, problem: str, count: int) -> str:
    """What a person is told of a condition that raised."""
    combined = _WITH_HITS.fullmatch(condition)
    shown = combined[1] if combined else condition
    often = f" ({count} times so far)" if count > 1 else ""
    return (
        f"The condition {shown!r} at {frame.f_code.co_filename}:{frame.f_lineno} raised {problem.rstrip('.')}{often}."
    )

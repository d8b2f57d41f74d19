"""Conditions that could not be tested, told before the stop of their thread, and kept until that is described."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyharness.debugger.breakpoint import Breakpoint


class FailedConditions:
    """What either debugger said of them, by thread."""

    def __init__(self) -> None:
        self._texts: dict[int, tuple[int, str]] = {}
        """LWP → the line, 0 for any, and what is to be told."""

    def take(self, data: Any) -> None:
        """Take what ``debuggee/pydevd/conditions.py`` sends with its output on a condition of Python's."""
        if isinstance(data, dict) and "condition" in data:
            self._texts[int(data["thread"])] = int(data["line"]), str(data["condition"])

    def take_native(self, thread: int, place: Breakpoint | None, problem: str) -> None:
        """Take a condition that gdb could not test; gdb stops there, too."""
        self._texts[thread] = 0, f"{place}: the condition could not be tested: {problem.rstrip('.')}."

    def at(self, thread: int, line: int | None) -> str:
        """Why a thread that stands at ``line`` does so although no condition held; empty where one did."""
        told, text = self._texts.pop(thread, (0, ""))
        return text if told in {0, line} else ""

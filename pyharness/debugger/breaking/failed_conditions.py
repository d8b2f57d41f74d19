"""Conditions that could not be tested, told before the stop of their thread, and kept until that is described."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from pyharness.debugger.breaking.breakpoint import Breakpoint


@frozen
class FailedCondition:
    """Why a thread stands although no condition held."""

    text: str
    """What is to be told."""
    line: int = 0
    """The line that it holds for, 0 for any."""

    @classmethod
    def of_native(cls, place: Breakpoint | None, problem: str) -> FailedCondition:
        """A condition that gdb could not test; gdb stops there, too."""
        return cls(f"{place}: the condition could not be tested: {problem.rstrip('.')}.")

    def at(self, line: int | None) -> str:
        """The text for a thread that stands at ``line``; empty where it is of another line."""
        return self.text if self.line in {0, line} else ""

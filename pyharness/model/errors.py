"""The one base class of every error a user may see: what happened, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.host.exit_status import ExitStatus

if TYPE_CHECKING:
    from collections.abc import Iterable


class HarnessError(Exception):
    """An error with its remedy.

    One place (``pyharness.cli``) prints it and exits with ``exit_code``; nothing else catches it to print.
    """

    exit_code: int = ExitStatus.FAILED

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message}\n{self.remedy}" if self.remedy else self.message


class UsageError(HarnessError):
    """What the user typed cannot be meant: a typo, a place that does not exist."""

    exit_code = ExitStatus.USAGE


class DebuggerLostError(HarnessError):
    """gdb died, or debugpy left the program; the user's program shall not end because of that.

    What became of it is the remedy as soon as somebody has looked.
    """

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} ended unexpectedly.", "The program is let go; look whether it runs.")


def nearest(name: str, known: Iterable[str], count: int = 3, *, alike: float = 0.5) -> str:
    """A sentence that offers the names nearest to ``name``, or an empty string when none is as much ``alike``."""
    import difflib

    matches = difflib.get_close_matches(name, list(dict.fromkeys(known)), n=count, cutoff=alike)
    return f"Did you mean {', '.join(matches)}?" if matches else ""

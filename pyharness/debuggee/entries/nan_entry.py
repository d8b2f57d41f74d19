"""What ``pyharness run --nan`` becomes: the user's script under a handle, ended at its first bad value.

python START.py nan NAME [-m] SCRIPT [ARGS...]
"""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.entries.searched import FOUND, run_searched
from pyharness.debuggee.link.forked import children_ended, had_children
from pyharness.model.errors import HarnessError  # before the script's folder comes on the path
from pyharness.model.ranks.launchers import rank_of_several
from pyharness.model.text.visible import say

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.model.results.finding import Finding
    from pyharness.native.find_nan import NanSearch


def main() -> int:
    """Become the script, and look from its import of torch on."""
    from pyharness.debuggee.watched.imports import after_import
    from pyharness.debuggee.watched.kernels import INDUCTOR

    watched = Watched()
    watched.told_before_leaving()
    after_import(INDUCTOR, lambda _: watched.follow_kernels())
    return run_searched(watched.begin, watched.end)


class Watched:
    """The search in this process."""

    def __init__(self) -> None:
        self._search: NanSearch | None = None
        self._is_silent = self._is_told = False
        self._children = children_ended()
        self._rank = rank_of_several(os.environ)

    def told_before_leaving(self) -> None:
        """Have a finding told, too, where the process ends without Python's own end, as each fork does."""
        for name in ("_exit", "execv", "execve"):
            setattr(os, name, self._after_report(getattr(os, name)))
        os.register_at_fork(after_in_child=self._in_child)

    def _in_child(self) -> None:
        """What was found before is the parent's to tell."""
        if self._search is not None and self._search.finding is not None:
            self._search, self._is_silent = None, True

    def _after_report(self, leave: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(leave)
        def leaves(*arguments: Any, **named: Any) -> Any:
            search = self._search
            if search is not None and search.finding is not None:
                self.end()
            return leave(*arguments, **named)

        return leaves

    def begin(self) -> None:
        """torch is there: look from now on."""
        from pyharness.native.find_nan import find_nan

        try:
            self._search = search = find_nan(action="raise")
            search.on_finding = self._tell
            search.__enter__()
        except HarnessError as error:
            say(str(error))
            self._is_silent = True
            raise SystemExit(error.exit_code) from None

    def _tell(self, finding: Finding) -> None:
        """Tell it now: the program may go on for hours, or die."""
        from pyharness.native.find_nan import report

        self._is_told = True
        report(finding, self._rank)

    def follow_kernels(self) -> None:
        """inductor is there: look at what it makes, too."""
        if self._search is not None:
            self._search.follow_kernels()

    def end(self) -> int:
        """Say what was found; the exit status for it, 0 for nothing."""
        search, self._search = self._search, None
        if search is None:
            if not self._is_silent:  # why was said
                say("torch was not imported, so no op ran.")
            return 0
        search.end()
        if search.finding is None:
            checked = f"{search.checked:,} ops and autograd nodes of the main thread"
            calls = "call of a compiled kernel" if search.kernels == 1 else "calls of compiled kernels"
            kernels = f" and {search.kernels:,} {calls}" if search.kernels else ""
            children = (
                " It started other processes, whose ops are not among these." if had_children(self._children) else ""
            )
            who = "" if self._rank is None else f"rank {self._rank}: "
            say(f"{who}no NaN or Inf was made ({checked}{kernels} were checked).{children}")
            return 0
        if not self._is_told:  # a thread without Python has found it
            self._tell(search.finding)
        return FOUND

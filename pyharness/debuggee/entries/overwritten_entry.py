"""What ``pyharness run --overwritten`` becomes: the user's script under a handle, its saved tensors watched.

python START.py overwritten NAME [-m] SCRIPT [ARGS...]
"""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING

from pyharness.debuggee.entries.searched import FOUND, run_searched
from pyharness.debuggee.link.forked import children_ended, had_children
from pyharness.model.errors import HarnessError  # before the script's folder comes on the path
from pyharness.model.ranks.launchers import rank_of_several
from pyharness.model.text.visible import say

if TYPE_CHECKING:
    from pyharness.native.find_overwritten import OverwrittenSearch


def main() -> int:
    """Become the script, and look from its import of torch on."""
    watched = Watched()
    os.register_at_fork(after_in_child=watched.forget)
    return run_searched(watched.begin, watched.end)


class Watched:
    """The search in this process."""

    def __init__(self) -> None:
        self._search: OverwrittenSearch | None = None
        self._is_silent = False
        self._children = children_ended()
        self._rank = rank_of_several(os.environ)

    def begin(self) -> None:
        """torch is there: look from now on."""
        from pyharness.native.find_overwritten import find_overwritten, report

        try:
            search = find_overwritten(functools.partial(report, rank=self._rank))
            search.__enter__()
        except HarnessError as error:
            say(str(error))
            self._is_silent = True
            raise SystemExit(error.exit_code) from None
        self._search = search

    def forget(self) -> None:
        """What the parent found is the parent's to count."""
        if self._search is not None:
            self._search.forget()

    def end(self) -> int:
        """Say what was looked at where nothing was found; the exit status for it."""
        search, self._search = self._search, None
        if search is None:
            if not self._is_silent:  # why was said
                say("torch was not imported, so no tensor was saved.")
            return 0
        search.__exit__(None, None, None)
        who = "" if self._rank is None else f"rank {self._rank}: "
        if search.found:
            if search.times > len(search.found):
                say(f"{who}saved tensors were overwritten {search.times:,} times, at {_places(len(search.found))}.")
            return FOUND
        watched, elsewhere = search.saves
        rest = f"; {elsewhere:,} more lie in memory that cannot be watched" if elsewhere else ""
        children = (
            " It started other processes, whose tensors are not among these." if had_children(self._children) else ""
        )
        say(f"{who}no saved tensor was overwritten ({watched:,} were watched{rest}).{children}")
        return 0


def _places(count: int) -> str:
    return "the place above" if count == 1 else f"the {count} places above"

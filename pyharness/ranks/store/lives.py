"""How long the ranks of this host live: of the rank that has started us, and then of those that it leaves behind."""

from __future__ import annotations

import os
import select
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from pyharness.host.process_state import started_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Lives:
    """Processes of which at least one lives; ``others`` is asked once for those beside the first."""

    def __init__(self, first: int, others: Callable[[], Iterable[int]]) -> None:
        self.ends: list[int] = []
        """Descriptors, each of which can be read when its process has ended."""
        self._others = others
        self._is_asked = False
        self._take([first])

    def remain(self) -> bool:
        """Whether one lives."""
        self._drop_ended()
        if not self.ends and not self._is_asked:
            # What the launcher starts anew begins later, and has somebody of its own to answer.
            now, self._is_asked = time.time(), True
            self._take(pid for pid in self._others() if started_at(pid) < now)
            self._drop_ended()
        return bool(self.ends)

    def wait(self, seconds: float) -> None:
        """Wait for so long, or until one ends."""
        select.select(self.ends, [], [], seconds)

    def _take(self, pids: Iterable[int]) -> None:
        for pid in pids:
            with suppress(OSError):  # it has ended
                self.ends.append(os.pidfd_open(pid))

    def _drop_ended(self) -> None:
        for ended in select.select(self.ends, [], [], 0)[0]:
            self.ends.remove(ended)
            os.close(ended)

"""Has the engine for a program's Python and torch before the program is told of places at ops and nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.engine import need
from pyharness.engine.build import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pyharness.engine.facts import Facts


class EngineFirst(Progress):
    """One session's: the program waits before its first line, or runs on, and not inside of its own code."""

    def __init__(self, progress: Callable[[str], None], note: Callable[[str], None]) -> None:
        super().__init__()
        self._progress = progress
        self._note = note
        self._named = ""
        self._done = False

    def have(self, python: str, env: Mapping[str, str]) -> None:
        """Find or build it, once; ``HarnessError`` where it cannot be built. Without torch there is nothing to do."""
        if python and not self._done:
            need.engine(python, self, env)
            self._done = True

    def begins(self, facts: Facts, count: int) -> None:
        """Note what takes so long, and that it is once only."""
        self._named = facts.named
        self._note(f"building the engine for {facts.named}, once: {count} parts, a minute or two.")

    def waits(self, facts: Facts) -> None:
        """Note who builds it."""
        self._note(f"another process builds the engine for {facts.named}: waiting for it.")

    def has(self, done: int, count: int, part: str) -> None:
        """Count the parts."""
        self._progress(f"building the engine for {self._named}: {done} of {count} ({part})")

    def ends(self, file: Path) -> None:
        """Note where it is."""
        self._note(f"built {file}")

"""What ranks or processes say: that of one at a time, with a heading where another one begins to speak."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from pyharness.model.text.styled_line import Line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pyharness.prompt.job.members import Members
    from pyharness.prompt.screen import Screen


class Speaking:
    """The screen that all ranks share; while a person types, they wait."""

    def __init__(self, screen: Screen, members: Members) -> None:
        self.screen = screen
        self._members = members
        self._last: int | None = None
        self._lock = threading.Lock()
        self._typed = False
        self._kept: list[tuple[int, Callable[[], None]]] = []

    def say(self, rank: int, parts: Iterable[Callable[[], None]]) -> None:
        """Show what a rank says, in one piece; from any thread."""
        with self._lock:
            if self._typed:
                self._kept += [(rank, part) for part in parts]
            else:
                self._show(rank, parts)

    def typed(self, *, begins: bool) -> None:
        """A person begins to type, or has ended."""
        with self._lock:
            self._typed = begins
            if not begins:
                kept, self._kept = self._kept, []
                for rank, part in kept:
                    self._show(rank, [part])

    def switched(self, rank: int | None) -> None:
        """The prompt has said whose words come next."""
        self._last = rank

    def _show(self, rank: int, parts: Iterable[Callable[[], None]]) -> None:
        parts = list(parts)
        if parts and rank != self._last:
            self.screen.write_lines([Line(f"{self._members.one} {rank}", "heading")])
            self._last = rank
        for part in parts:
            part()


class RankScreen:
    """A ``Screen`` of one rank: what it shows at a stop is shown in one piece, once it is whole."""

    def __init__(self, rank: int, speaking: Speaking) -> None:
        self._rank = rank
        self._speaking = speaking
        self._parts: list[Callable[[], None]] = []
        self.live: Callable[[], bool] = lambda: True
        """Whether the program runs: what comes then is none of a stop's."""
        self.quiet = False
        """Whether only errors are shown: another rank says the same."""
        self.failed = False
        """Whether something went wrong."""

    def flush(self) -> None:
        """Show what has come together."""
        parts, self._parts = self._parts, []
        self._speaking.say(self._rank, parts)

    def drop(self) -> None:
        """Show it no more: its stop is over."""
        self._parts.clear()

    def progress(self, text: str) -> None:
        """Nothing: several ranks do something at a time."""

    def write_unended(self, text: str) -> None:
        """The beginning of a line."""
        self._take(lambda: self._speaking.screen.write_unended(text))

    def write_lines(self, lines: Iterable[Line]) -> None:
        """Lines."""
        made = list(lines)
        if not self.quiet:
            self._take(lambda: self._speaking.screen.write_lines(made))

    def error(self, message: str, remedy: str = "") -> None:
        """What went wrong."""
        self.failed = True
        self._take(lambda: self._speaking.screen.error(message, remedy))

    def note(self, text: str) -> None:
        """What to know."""
        if not self.quiet:
            self._take(lambda: self._speaking.screen.note(text))

    def columns(self) -> int | None:
        """The width of the terminal."""
        return self._speaking.screen.columns()

    def in_colour(self) -> bool:
        """Whether it has colours."""
        return self._speaking.screen.in_colour()

    def rows(self) -> int | None:
        """The height of the terminal."""
        return self._speaking.screen.rows()

    def _take(self, part: Callable[[], None]) -> None:
        self._parts.append(part)
        if self.live():
            self.flush()

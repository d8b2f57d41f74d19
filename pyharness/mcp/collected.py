"""The screen of a session that a client drives: what is shown comes together as text."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from pyharness.model.text.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pyharness.model.text.styled_line import Line


class Collected:
    """A ``Screen``, written on the session's thread and read by whoever answers."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: list[str] = []
        self.on_progress: Callable[[str], None] = lambda _text: None

    def take(self) -> str:
        """All that was shown since the last time."""
        with self._lock:
            lines, self._lines = self._lines, []
        return "\n".join(lines)

    def progress(self, text: str) -> None:
        """Tell whoever waits what takes a second."""
        self.on_progress(text)

    def write_unended(self, text: str) -> None:
        """The beginning of a line: nobody ends it here."""
        self._add(text)

    def write_lines(self, lines: Iterable[Line]) -> None:
        """Lines, without colours."""
        self._add(*(line.text for line in lines))

    def error(self, message: str, remedy: str = "") -> None:
        """What went wrong, and what to do about it."""
        self._add("\n".join(filter(None, (f"error: {message}", remedy))))

    def note(self, text: str) -> None:
        """What to know."""
        self._add(f"note: {text}")

    def columns(self) -> int | None:
        """No width: lines are as long as they are."""
        return None

    def in_colour(self) -> bool:
        """Never."""
        return False

    def rows(self) -> int | None:
        """No height."""
        return None

    def _add(self, *texts: str) -> None:
        with self._lock:
            self._lines += map(visible, texts)

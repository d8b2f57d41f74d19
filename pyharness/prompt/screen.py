"""What the prompt writes to: the command line's one place that prints, as far as the prompt needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pyharness.model.text.styled_line import Line


class Screen(Protocol):
    """Lines to stdout, and what is said aside to stderr."""

    @property
    def progress(self) -> Callable[[str], None]:
        """Told what takes a second."""

    def write_unended(self, text: str) -> None:
        """The beginning of a line, which a person ends."""

    def write_lines(self, lines: Iterable[Line]) -> None:
        """Lines, coloured on a terminal."""

    def error(self, message: str, remedy: str = "") -> None:
        """What went wrong, and what to do about it."""

    def note(self, text: str) -> None:
        """What to know."""

    def columns(self) -> int | None:
        """The width of the terminal; ``None`` where there is none."""

    def in_colour(self) -> bool:
        """Whether it has colours."""

    def rows(self) -> int | None:
        """The height likewise."""

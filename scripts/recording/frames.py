"""What a terminal shows for a while: rows of runs of characters that look alike."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyte


@dataclass(frozen=True)
class Run:
    """Characters of one colour."""

    text: str
    colour: str
    bold: bool


Row = tuple[Run, ...]


@dataclass(frozen=True)
class Frame:
    """A screen, and for how many seconds it is shown."""

    rows: tuple[Row, ...]
    cursor: tuple[int, int]
    """Row and column."""
    seconds: float

    @property
    def lines(self) -> list[str]:
        """The text of the rows down to the last that has some."""
        lines = ["".join(run.text for run in row) for row in self.rows]
        return lines[: max((number for number, line in enumerate(lines, 1) if line), default=0)]


def frame_of(screen: pyte.Screen, seconds: float) -> Frame:
    """What a screen shows now."""
    rows = tuple(_row([screen.buffer[y][x] for x in range(screen.columns)]) for y in range(screen.lines))
    return Frame(rows, (screen.cursor.y, screen.cursor.x), seconds)


def _row(characters: list[Any]) -> Row:
    while characters and characters[-1].data == " " and characters[-1].bg == "default":
        characters.pop()
    alike = groupby(characters, key=lambda each: (each.fg, each.bold))
    return tuple(Run("".join(each.data for each in run), *look) for look, run in alike)

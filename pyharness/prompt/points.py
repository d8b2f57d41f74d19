"""The places that a person has named at the prompt, by the numbers that they are called by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyharness.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.debugger.breaking.breakpoint import Breakpoint
    from pyharness.debugger.stop import Stopped
    from pyharness.model.frames import Frame


@dataclass(eq=False)
class Point:
    """A breakpoint or a log point; it outlives the program, and is set in the next."""

    number: int
    breakpoint: Breakpoint
    temporary: bool = False
    enabled: bool = True
    hits: int = 0
    """How often the program has stopped there."""
    is_step: bool = False
    """Whether it is the end of a step, as of `next node`: nobody has named it."""
    since: int = 0
    """How many steps of the record came before it was set."""

    @property
    def kind(self) -> str:
        """What it is called in a list."""
        return "log" if self.breakpoint.log else "temporary" if self.temporary else "breakpoint"

    @property
    def command(self) -> str:
        """The command that sets it in another program, wherever that stands."""
        place, message = self.breakpoint.where.written, self.breakpoint.log
        if not message:
            return f"{'tbreak' if self.temporary else 'break'} {place}"
        quote = "'" if '"' in message else '"'
        return f"log {place} {quote}{message}{quote}"


class Points:
    """All of them, in the order of their numbers."""

    def __init__(self) -> None:
        self._points: dict[int, Point] = {}
        self._count = 0

    def __iter__(self) -> Iterator[Point]:
        return iter(list(self._points.values()))

    def add(self, breakpoint_: Breakpoint, *, temporary: bool = False) -> Point:
        """A new one."""
        self._count += 1
        point = Point(self._count, breakpoint_, temporary)
        self._points[point.number] = point
        return point

    def remove(self, point: Point) -> None:
        """Forget one; its number is not used again."""
        self._points.pop(point.number, None)

    def named(self, words: str) -> list[Point]:
        """The points whose numbers are given; all of them where there are no words."""
        if not words:
            return list(self)
        return [self._named(word) for word in words.replace(",", " ").split()]

    def _named(self, word: str) -> Point:
        point = self._points.get(int(word)) if word.isascii() and word.isdecimal() else None
        if point is None:
            known = ", ".join(map(str, self._points))
            raise UsageError(
                f"There is no breakpoint {word!r}.", f"Known numbers: {known}." if known else "There is none."
            )
        return point

    def of(self, breakpoint_: Breakpoint) -> Point | None:
        """The one that a breakpoint of the core is of."""
        return next((point for point in self if point.breakpoint is breakpoint_), None)

    def hit(self, stop: Stopped, frame: Frame) -> list[Point]:
        """The points that the program stands at."""
        if stop.reason != "breakpoint":
            return []
        if stop.breakpoint is not None:
            return [point for point in self if point.breakpoint is stop.breakpoint]
        place = frame.file, frame.line
        return [
            point for point in self if point.enabled and not point.breakpoint.log and place in point.breakpoint.lines
        ]

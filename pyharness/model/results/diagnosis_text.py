"""What ``pyharness doctor`` found, as lines for a person: area by area, each finding with its remedy below it."""

from __future__ import annotations

import textwrap
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from pyharness.model.results.diagnosis import Diagnosis, State, worst
from pyharness.model.text.styled_line import Line, Style

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MARKS: dict[State, tuple[str, Style]] = {
    "ok": ("ok", ""),
    "warning": ("warning", "warn"),
    "problem": ("problem", "bad"),
    "not applicable": ("-", "faint"),
}
_COLUMN = 11
"""Where the sentences begin."""
_NARROWEST = 40


def lines(found: Sequence[Diagnosis], width: int | None = None) -> Iterator[Line]:
    """A block for each area, and the sum; ``width`` in columns folds long sentences, ``None`` leaves them alone."""
    for (area, subject), members in groupby(found, key=lambda one: (one.area, one.subject)):
        yield Line(f"{area}: {subject}" if subject else area, "heading")
        for one in members:
            yield from _finding(one, width)
        yield Line("")
    yield Line(summary(found), _MARKS[worst(found)][1] or "good")


def _finding(one: Diagnosis, width: int | None) -> Iterator[Line]:
    mark, style = _MARKS[one.state]
    yield from _folded(f"  {mark:<{_COLUMN - 2}}", one.seen, width, style)
    if one.remedy:
        yield from _folded(" " * _COLUMN + "→ ", one.remedy, width, "")


def _folded(head: str, text: str, width: int | None, style: Style) -> Iterator[Line]:
    if width is None:
        yield Line(head + text, style)
        return
    room = max(width - len(head), _NARROWEST)
    parts = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]
    for number, part in enumerate(parts):
        yield Line((" " * len(head) if number else head) + part, style)


def summary(found: Sequence[Diagnosis]) -> str:
    """``2 problems, 1 warning, 20 ok``: one line."""
    counts = Counter(one.state for one in found)
    parts = [
        f"{counts[state]} {state}{'s' if counts[state] != 1 else ''}"
        for state in ("problem", "warning")
        if counts[state]
    ]
    return ", ".join([*(parts or ["no problem"]), f"{counts['ok']} ok"])

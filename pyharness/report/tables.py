"""The tables of a trace as lines of text; whoever prints them knows the terminal's width and colours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyharness.model.text.styled_line import Line
from pyharness.model.text.visible import in_one_line
from pyharness.report import units
from pyharness.report.collectives import waits_of
from pyharness.report.summary import Cost, Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyharness.model.results.trace import Trace
    from pyharness.report.summary import By, Row

_GAP = "  "
_THREADS = 4
"""How many threads are named."""
_NARROWEST = 24
"""Columns that a name keeps on the narrowest terminal."""
_CHILDREN = 0.01
"""Seconds of processor time from which on child processes are spoken of: a small tool takes less."""
_TITLES = {"module": "by module", "op": "by op", "kernel": "by compiled kernel", "node": "by autograd node"}
_NOTHING = "No op ran in this process: a program's child processes are not recorded."
_LEGEND = "self: without what is nested inside; share: of all recorded time"


@dataclass(frozen=True)
class Manner:
    """How much to show of which table."""

    by: tuple[By, ...] = ("module", "op", "kernel", "node")
    limit: int = 15
    shapes: bool = False
    memory: bool = False
    width: int | None = None
    """Columns of a line; ``None`` for no limit."""


@dataclass(frozen=True)
class _Column:
    head: str
    text: Callable[[Row], str]


def lines(trace: Trace, manner: Manner) -> Iterator[Line]:
    """What was recorded, what was lost, and the tables."""
    yield Line(headline(trace), "heading")
    yield from _threads(trace)
    if trace.lost:
        lost = units.number(trace.lost, "event")
        yield Line(f"{lost} lost: more than a thread's buffer holds (--capacity); the first are missing.", "bad")
    if trace.children >= _CHILDREN:
        taken = units.duration(round(trace.children * 1e9))
        yield Line(f"child processes took {taken} of processor time: what they ran is not recorded.", "bad")
    summary = Summary(trace)
    for by in manner.by:
        rows = summary.rows(by, shapes=manner.shapes)
        if rows:
            yield Line("")
            yield from _table(by, rows, summary.whole, manner)
    if trace.ranks:
        yield from _collectives(trace, manner)
    yield Line(_LEGEND if trace.events else _NOTHING, "faint")


def _collectives(trace: Trace, manner: Manner) -> Iterator[Line]:
    """Who comes last to what all ranks take part in."""
    waits, left_out = waits_of(trace)
    if waits:
        heads = ["count", "wait", "longest", "waited for"]
        cells = [
            [f"{each.count:,}", units.duration(each.total), units.duration(each.longest), each.blamed] for each in waits
        ]
        yield Line("")
        yield from _in_columns("by collective", [each.name for each in waits], heads, cells, manner)
    if left_out:
        yield Line(left_out, "bad")
    for note in trace.notes:
        yield Line(note, "faint")


def headline(trace: Trace) -> str:
    """What was recorded, in one line."""
    parts = [
        units.number(len(trace.ops), "op"),
        units.number(len(trace.nodes), "autograd node"),
        units.number(len(trace.graph_tasks), "backward pass", "backward passes"),
        units.duration(trace.duration),
    ]
    return in_one_line(f"{trace.program or 'recording'}: {', '.join(parts)}")


def _threads(trace: Trace) -> Iterator[Line]:
    counts = dict.fromkeys(trace.threads, 0)
    for event in trace.events:
        counts[event.thread] = counts.get(event.thread, 0) + 1
    if len(counts) > 1:
        named = [
            f"{in_one_line(trace.threads.get(thread) or str(thread))} ({count:,})" for thread, count in counts.items()
        ]
        rest = [f"and {len(named) - _THREADS} more"] if len(named) > _THREADS else []
        yield Line(f"{len(counts)} threads: {', '.join(named[:_THREADS] + rest)}", "faint")


def _table(by: By, rows: list[Row], whole: int, manner: Manner) -> Iterator[Line]:
    columns = list(_columns(by, whole, manner))
    cells = [[column.text(row) for column in columns] for row in rows[: manner.limit]]
    heads = [column.head for column in columns]
    yield from _in_columns(_TITLES[by], [row.name for row in rows], heads, cells, manner, [row.shapes for row in rows])


def _in_columns(
    title: str,
    names: list[str],
    heads: list[str],
    cells: list[list[str]],
    manner: Manner,
    behind: list[str] | None = None,
) -> Iterator[Line]:
    """A table; ``behind``: what is written behind each row, as far as there is room."""
    shown = [in_one_line(name) for name in names[: manner.limit]]
    cells = cells[: manner.limit]
    widths = [max(len(head), *map(len, texts)) for head, *texts in zip(heads, *cells, strict=True)]
    room = max(len(title), *map(len, shown))
    if manner.width is not None:
        room = min(room, max(_NARROWEST, manner.width - sum(widths) - len(_GAP) * len(widths)))
    yield Line(_joined(title, heads, widths, room), "heading")
    for number, (name, texts) in enumerate(zip(shown, cells, strict=True)):
        text = _joined(name, texts, widths, room)
        yield Line(_with_shapes(text, behind[number] if behind else "", manner.width))
    if len(names) > len(shown):
        yield Line(f"… {len(names) - len(shown):,} more (--limit)", "faint")


def _joined(name: str, cells: list[str], widths: list[int], room: int) -> str:
    numbers = (f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
    return _GAP.join([f"{_cut(name, room):<{room}}", *numbers]).rstrip()


def _cut(text: str, room: int) -> str:
    """The end of a path tells more than its beginning."""
    return text if len(text) <= room else f"…{text[len(text) - room + 1 :]}"


def _with_shapes(text: str, shapes: str, width: int | None) -> str:
    whole = f"{text}{_GAP}{shapes}" if shapes else text
    return whole if width is None or len(whole) <= width else f"{whole[: width - 1]}…"


def _columns(by: By, whole: int, manner: Manner) -> Iterator[_Column]:
    if by == "module":
        yield _Column("events", lambda row: f"{row.count:,}")
        yield _Column("forward", lambda row: _time(row.forward))
        yield _Column("backward", lambda row: _time(row.backward))
        yield _Column("total", lambda row: units.duration(row.total))
        yield _Column("share", lambda row: units.share(row.total, whole))
        yield _Column("self", lambda row: _nonzero(row.own))
    else:
        yield _Column("count", lambda row: f"{row.count:,}")
        yield _Column("total", lambda row: units.duration(row.total))
        yield _Column("mean", lambda row: units.duration(row.mean))
        yield _Column("self", lambda row: units.duration(row.own))
        yield _Column("share", lambda row: units.share(row.own, whole))
    if manner.memory:
        yield _Column("memory", lambda row: "" if row.memory is None else units.size(row.memory))


def _nonzero(nanoseconds: int) -> str:
    return units.duration(nanoseconds) if nanoseconds else ""


def _time(cost: Cost) -> str:
    return units.duration(cost.total) if cost.count else ""

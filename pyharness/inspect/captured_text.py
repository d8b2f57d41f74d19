"""A capture as lines of text: a table of calls, and the modules as they are nested."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyharness.inspect.selection import ROOT
from pyharness.model.tensors.text import number
from pyharness.model.text.styled_line import Line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.inspect.capturing import Capture
    from pyharness.inspect.record import Record
    from pyharness.inspect.statistics import TensorStatistics
    from pyharness.model.text.styled_line import Style

_GAP = "  "
_NUMBERS = ("mean", "std", "min", "max", "norm", "zeros")


@dataclass(frozen=True)
class _Row:
    name: str
    cells: tuple[str, ...]
    notes: str = ""
    style: Style = ""


def lines(capture: Capture, *, statistics: bool = True, limit: int | None = None) -> Iterator[Line]:
    """A row for each tensor of each call."""
    rows = [row for record in capture.records for row in _rows(record, record.name, statistics=statistics)]
    shown = rows[:limit]
    yield from _table("module", shown, statistics=statistics)
    if len(shown) < len(rows):
        yield Line(f"… {len(rows) - len(shown):,} more", "faint")
    yield from _rest(capture)


def tree(capture: Capture, *, statistics: bool = True) -> Iterator[Line]:
    """A row for each module below the one that it is part of; its calls one below the other."""
    by_path: dict[str, list[Record]] = {}
    for record in capture.records:
        by_path.setdefault(record.path, []).append(record)
    shown = _with_parents([*by_path, *capture.not_called, *capture.unseen])
    modules = dict(capture.model.named_modules(remove_duplicate=False))
    ordered = [path for path in modules if path in shown]
    rows: list[_Row] = []
    for path, branch in zip(ordered, _branches(ordered), strict=True):
        records = by_path.get(path, [])
        label = branch + (path.rpartition(".")[2] or ROOT)
        if not records:
            note = capture.unseen.get(path, "") or _why_empty(capture, path)
            rows.append(_Row(label, (type(modules[path]).__name__, ""), note, "faint"))
        for record in records:
            rows += _rows(record, f"{label}#{record.call}" if len(records) > 1 else label, statistics=statistics)
    yield from _table("module", rows, statistics=statistics)
    yield from _raised(capture)


def _why_empty(capture: Capture, path: str) -> str:
    if capture.raised and path in capture.raised.paths:
        return "raised"
    return "not called" if path in capture.not_called else ""


def _with_parents(paths: list[str]) -> set[str]:
    found = {""}
    for path in paths:
        parts = path.split(".") if path else []
        found |= {".".join(parts[: count + 1]) for count in range(len(parts))}
    return found


def _branches(paths: list[str]) -> list[str]:
    """The lines before each name; children follow their parents in ``paths``."""
    last: dict[str, str] = {}
    for path in paths:
        if path:
            last[path.rpartition(".")[0]] = path
    branches = []
    for path in paths:
        parts = path.split(".") if path else []
        ancestors = [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
        bars = ["   " if last[each.rpartition(".")[0]] == each else "│  " for each in ancestors[:-1]]
        own = [("└─ " if last[path.rpartition(".")[0]] == path else "├─ ")] if path else []
        branches.append("".join(bars + own))
    return branches


def _rows(record: Record, name: str, *, statistics: bool) -> Iterator[_Row]:
    notes = list(_notes(record))
    if not record.leaves:
        value = "" if record.output is None else type(record.output).__name__
        yield _Row(name, (record.module, value), ", ".join(notes), "" if record.finished else "bad")
    for place, (path, found) in enumerate(record.statistics.items()):
        own = notes if not place else []
        own = [*own, "overwritten in place later"] if path in record.overwritten else own
        bad = found.nan or found.infinite
        cells: tuple[str, ...] = (
            record.module if not place else "",
            f"{path} {found.dtype} {list(found.shape)}".strip(),
        )
        cells += _numbers(found) if statistics else ()
        yield _Row(name if not place else "", cells, ", ".join([*own, *_bad(found)]), "bad" if bad else "")


def _notes(record: Record) -> Iterator[str]:
    if not record.finished:
        yield "raised"
    if record.recomputed:
        yield "recomputed for backward"
    others = [path or ROOT for path in record.paths if path != record.path]
    if others:
        yield f"shared with {', '.join(others)}"


def _bad(found: TensorStatistics) -> Iterator[str]:
    for count, what in ((found.nan, "NaN"), (found.infinite, "Inf")):
        if count:
            yield f"{count:,} {what}"


def _numbers(found: TensorStatistics) -> tuple[str, ...]:
    if found.why_not or not found.count:
        return ("",) * len(_NUMBERS)
    values = (found.mean, found.std, found.minimum, found.maximum, found.norm)
    return (*("" if value is None else number(value) for value in values), f"{found.zero_fraction:.1%}")


def _table(head: str, rows: list[_Row], *, statistics: bool) -> Iterator[Line]:
    heads = ("class", "output", *(_NUMBERS if statistics else ()))
    cells = [row.cells + ("",) * (len(heads) - len(row.cells)) for row in rows]
    room = max([len(head), *(len(row.name) for row in rows)])
    widths = [max(len(title), *map(len, column)) for title, *column in zip(heads, *cells, strict=True)]
    notes = any(row.notes for row in rows)
    yield Line(_joined(head, heads, widths, room, "notes" if notes else ""), "heading")
    for row, texts in zip(rows, cells, strict=True):
        yield Line(_joined(row.name, texts, widths, room, row.notes), row.style)


def _joined(name: str, cells: tuple[str, ...], widths: list[int], room: int, notes: str) -> str:
    texts = [f"{cell:{'<' if place < 2 else '>'}{width}}" for place, (cell, width) in enumerate(zip(cells, widths))]  # noqa: B905
    return _GAP.join([f"{name:<{room}}", *texts, notes]).rstrip()


def _rest(capture: Capture) -> Iterator[Line]:
    if capture.not_called:
        yield Line(f"not called: {', '.join(path or ROOT for path in capture.not_called)}", "faint")
    for why in dict.fromkeys(capture.unseen.values()):
        paths = [path or ROOT for path, each in capture.unseen.items() if each == why]
        yield Line(f"not seen: {', '.join(paths)}: {why}", "faint")
    yield from _raised(capture)


def _raised(capture: Capture) -> Iterator[Line]:
    if capture.raised:
        way = " → ".join(path or ROOT for path in capture.raised.paths) or "outside of the model"
        yield Line(f"{capture.raised.error} (in {way})", "bad")

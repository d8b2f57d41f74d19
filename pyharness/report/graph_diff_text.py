"""What differs between two graphs, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.text.styled_line import Line
from pyharness.report import units
from pyharness.report.graph_table import module_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.graph import Graph, GraphNode
    from pyharness.model.results.graph_diff import GraphDiff, Row
    from pyharness.model.text.styled_line import Style

_MARKS: dict[str, tuple[str, Style]] = {
    "same": (" ", ""),
    "renamed": ("=", "faint"),
    "moved": ("↕", "place"),
    "changed": ("~", "current"),
    "removed": ("-", "bad"),
    "added": ("+", "good"),
}
_WORDS = {"same": "the same", "renamed": "renamed only"}
_CONTEXT = 2
"""Nodes that are the same and are shown before and after one that is not."""
_LEAST = 24
_WIDE = 60


def side_by_side(diff: GraphDiff, titles: tuple[str, str], *, width: int | None, whole: bool) -> Iterator[Line]:
    """Statements before and after in two columns; what is the same is folded, unless ``whole``."""
    cells = [(_statement(diff.before, row.before), _statement(diff.after, row.after)) for row in diff.rows]
    longest = max((len(text) for pair in cells for text in pair), default=0)
    room = max(_LEAST, min(longest, (width - 5) // 2 if width is not None else _WIDE))
    yield Line(f"{_cut(titles[0], room):<{room}}     {titles[1]}", "heading")
    shown = _shown(diff, whole=whole)
    folded = 0
    for number, (row, pair) in enumerate(zip(diff.rows, cells, strict=True)):
        if number not in shown:
            folded += 1
            continue
        if folded:
            yield _fold(folded)
            folded = 0
        mark, style = _MARKS[row.change]
        yield Line(f"{_cut(pair[0], room):<{room}}  {mark}  {_cut(pair[1], room)}".rstrip(), style)
        yield from _notes(row)
    if folded:
        yield _fold(folded)
    yield Line(_summary(diff), "faint")


def _notes(row: Row) -> Iterator[Line]:
    """What the statements do not show."""
    if row.before and row.after:
        if "shape" in row.parts:
            yield Line(f"    shape {row.before.shape} → {row.after.shape}", "faint")
        if "target" in row.parts and row.before.kind != row.after.kind:
            yield Line(f"    {row.before.target}: {row.before.kind or '?'} → {row.after.kind or '?'}", "faint")
    elif (node := row.before or row.after) and node.module is not None:
        yield Line(f"    {row.change} in {module_text(node)}", "faint")


def _statement(graph: Graph, node: GraphNode | None) -> str:
    if node is None:
        return ""
    return graph.statement(node) or f"{node.name}  ({node.op})"


def _shown(diff: GraphDiff, *, whole: bool) -> set[int]:
    if whole:
        return set(range(len(diff.rows)))
    changes = [number for number, row in enumerate(diff.rows) if row.change not in {"same", "renamed"}]
    return {each for number in changes for each in range(number - _CONTEXT, number + _CONTEXT + 1)}


def _fold(count: int) -> Line:
    return Line(f"  ⋯ {units.number(count, 'node')} the same", "faint")


def _summary(diff: GraphDiff) -> str:
    parts = [f"{diff.counts[change]:,} {_WORDS.get(change, change)}" for change in _MARKS if diff.counts.get(change)]
    return f"{', '.join(reversed(parts))}." if parts else "Both graphs are empty."


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"

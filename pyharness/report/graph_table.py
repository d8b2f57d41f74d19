"""A graph as a table of its nodes; whoever prints it knows the terminal's width and colours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyharness.model.text.source_line import short_path
from pyharness.model.text.styled_line import Line
from pyharness.model.text.visible import in_one_line
from pyharness.report import units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyharness.model.graph import Chosen, Graph, GraphNode

GAP = "  "
_FIRST_TO_GO = ("op", "line", "shape")
_UNKNOWN = "?"
_ROOT = "(root)"


@dataclass(frozen=True)
class _Column:
    head: str
    text: Callable[[GraphNode], str]
    least: int
    """Columns that it keeps on a narrow terminal."""


def headline(chosen: Chosen) -> Line:
    """Which graph it is, who made it, and which version of how many is shown."""
    made = chosen.made
    version = f", version {chosen.version} of {made.count}" if made.count > 1 else ""
    nodes = units.number(len(chosen.graph.nodes), "node")
    return Line(in_one_line(f"{made.number} {made.name}: {made.maker}, {nodes}{version}"), "heading")


def table(graph: Graph, width: int | None = None) -> Iterator[Line]:
    """A row for each node; columns without a value are left out, long cells are cut to ``width``.

    A terminal too narrow for that loses the columns that say least: the others, and JSON, say it too.
    """
    cells = {column: [in_one_line(column.text(node)) for node in graph.nodes] for column in _COLUMNS}
    columns = _those_that_fit([column for column in _COLUMNS if any(cells[column])], width)
    wanted = [max(len(column.head), *map(len, cells[column])) for column in columns]
    widths = fitted(wanted, [column.least for column in columns], width)
    yield Line(_row([column.head for column in columns], widths), "faint")
    for number in range(len(graph.nodes)):
        yield Line(_row([cells[column][number] for column in columns], widths))


def _those_that_fit(columns: list[_Column], width: int | None) -> list[_Column]:
    kept = list(columns)
    for head in _FIRST_TO_GO:
        if width is None or sum(column.least + len(GAP) for column in kept) - len(GAP) <= width:
            break
        kept = [column for column in kept if column.head != head]
    return kept


def module_text(node: GraphNode) -> str:
    """The path as people say it: the root has a word, what nobody recorded a question mark."""
    if node.module is None:
        return "" if node.op == "output" else _UNKNOWN
    return node.module or _ROOT


def origin_text(node: GraphNode) -> str:
    """The user's line."""
    return f"{short_path(node.origin_file)}:{node.origin_line}" if node.origin_file else ""


def fitted(wanted: Sequence[int], least: Sequence[int], width: int | None) -> list[int]:
    """Columns as wide as wanted where that fits into ``width``; else the widest give way, down to their least."""
    widths = list(wanted)
    if width is None:
        return widths
    while sum(widths) + len(GAP) * (len(widths) - 1) > width:
        spare = [have - max(min(want, keep), 1) for have, want, keep in zip(widths, wanted, least, strict=True)]
        widest = max(range(len(widths)), key=lambda index: (spare[index] > 0, widths[index]))
        if spare[widest] <= 0:
            break
        widths[widest] -= 1
    return widths


def cut(text: str, width: int) -> str:
    """The end of a path tells more than its beginning."""
    return text if len(text) <= width else f"…{text[len(text) - width + 1 :]}"


def _row(cells: list[str], widths: list[int]) -> str:
    return GAP.join(f"{cut(cell, width):<{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip()


_COLUMNS = (
    _Column("node", lambda node: node.name, 14),
    _Column("op", lambda node: node.op, 13),
    _Column("target", lambda node: f"{node.target} ({node.kind})" if node.kind else node.target, 20),
    _Column("module", module_text, 12),
    _Column("shape", lambda node: node.shape, 12),
    _Column("line", lambda node: str(node.line or ""), 4),
    _Column("origin", origin_text, 16),
)

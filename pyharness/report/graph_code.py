"""The generated code of a graph, with the module and the user's line of each statement beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyharness.model.graph import without_frees
from pyharness.model.text.source_line import source_line
from pyharness.model.text.styled_line import Line
from pyharness.report.graph_table import GAP, fitted, module_text, origin_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.graph import Graph, GraphNode

_LEAST = (24, 8, 12, 12)
_HEADS = ("generated code", "module", "origin", "the user's line")


@dataclass(frozen=True)
class CodeLine:
    """A line of the generated code and the node whose statement begins there."""

    number: int
    text: str
    node: GraphNode | None

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        node = self.node
        return {
            "line": self.number,
            "text": self.text,
            "node": node.name if node else None,
            "module": node.module if node else None,
            "origin": node.origin if node else None,
            "source": source_line(node.origin_file, node.origin_line) if node else "",
        }


def code_lines(graph: Graph) -> list[CodeLine]:
    """Every line, from the first one that says something; inputs stand at their ``def``, or where they are unpacked."""
    starts: dict[int, GraphNode] = {}
    for node in graph.nodes:
        if node.line and (node.op != "placeholder" or node.line not in starts):
            starts[node.line] = node
    texts = graph.code.rstrip().split("\n")
    first = next((number for number, text in enumerate(texts) if text.strip()), 0)
    return [CodeLine(number + 1, text, starts.get(number + 1)) for number, text in enumerate(texts)][first:]


def code_table(graph: Graph, width: int | None = None) -> Iterator[Line]:
    """The lines as text; a module or a place that is that of the line before is said once."""
    lines = code_lines(graph)
    digits = len(str(lines[-1].number)) if lines else 1
    rows = [_row(each, before) for each, before in zip(lines, [None, *lines], strict=False)]
    wanted = [max(len(head), *(len(row[index]) for row in rows)) for index, head in enumerate(_HEADS)]
    room = None if width is None else width - digits - len(GAP)
    widths = fitted(wanted, _LEAST, room)
    yield Line(f"{'':{digits}}{GAP}{_joined(_HEADS, widths)}", "faint")
    for line, row in zip(lines, rows, strict=True):
        yield Line(f"{line.number:>{digits}}{GAP}{_joined(row, widths)}".rstrip())


def _row(line: CodeLine, before: CodeLine | None) -> tuple[str, str, str, str]:
    code, node = without_frees(line.text), line.node
    if node is None:
        return code, "", "", ""
    last = before.node if before else None
    module = "" if last and last.module == node.module else module_text(node)
    if last and last.origin == node.origin:
        return code, module, "", ""
    return code, module, origin_text(node), source_line(node.origin_file, node.origin_line)


def _joined(cells: tuple[str, ...], widths: list[int]) -> str:
    return GAP.join(f"{_cut(cell, width):<{width}}" for cell, width in zip(cells, widths, strict=True))


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"

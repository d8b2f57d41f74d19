"""A graph as text: a line for each node, and beside it rails on which values run from their node to their uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.text.styled_line import Line
from pyharness.report.graph_table import GAP, module_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.graph import Graph, GraphNode

_MOST = 12
"""Rails side by side; a value beyond that is known by its name alone."""
_NOWHERE = -1


def drawing(graph: Graph, width: int | None = None) -> Iterator[Line]:
    """Sources above, the output at the end. A module's name stands where its nodes begin."""
    rails = _Rails(graph)
    rows = [(node, rails.row(node)) for node in graph.nodes]
    room = max((len(art) for _, art in rows), default=0)
    named = [f"{art:<{room}}{GAP}{_statement(graph, node)}" for node, art in rows]
    shapes = max((len(node.shape) for node, _ in rows), default=0)
    longest = max(map(len, named), default=0)
    if width is not None:
        longest = max(room + 24, min(longest, width - shapes - 2 * len(GAP) - 16))
    before = None
    for (node, _), text in zip(rows, named, strict=True):
        module = "" if node.module == before else module_text(node)
        before = node.module
        shown = text if len(text) <= longest else f"{text[: longest - 1]}…"
        line = f"{shown:<{longest}}{GAP}{node.shape:<{shapes}}{GAP}{module}".rstrip()
        yield Line(line if width is None else line[:width])


def _statement(graph: Graph, node: GraphNode) -> str:
    text = graph.statement(node)
    if node.op == "placeholder":
        return f"{node.name}  (input)"
    if node.op == "call_module" and node.kind:
        return f"{node.name} = {node.kind}({node.arguments})"
    return text or f"{node.name} = {node.target}({node.arguments})"


class _Rails:
    """Which value runs where, from node to node."""

    def __init__(self, graph: Graph) -> None:
        self._lanes: list[str | None] = []
        self._last: dict[str, str] = {}
        for node in graph.nodes:
            for name in node.inputs:
                self._last[name] = node.name

    def row(self, node: GraphNode) -> str:
        """The rails beside ``node``, of which it ends some and begins one."""
        before = list(self._lanes)
        uses = [self._lanes.index(name) for name in node.inputs if name in self._lanes]
        ending = [lane for lane in uses if self._last.get(self._lanes[lane] or "") == node.name]
        for lane in ending:
            self._lanes[lane] = None
        own = self._place(node, ending)
        if own != _NOWHERE and node.name in self._last:
            self._lanes[own] = node.name
        while self._lanes and self._lanes[-1] is None:
            self._lanes.pop()
        return self._art(before, own, uses, ending)

    def _place(self, node: GraphNode, ending: list[int]) -> int:
        """The rail that an input leaves, else the first free one."""
        if ending:
            return min(ending)
        free = next((lane for lane, value in enumerate(self._lanes) if value is None), len(self._lanes))
        if free >= _MOST:
            return _NOWHERE
        if free == len(self._lanes) and node.name in self._last:
            self._lanes.append(None)
        return free

    def _art(self, before: list[str | None], own: int, uses: list[int], ending: list[int]) -> str:
        touched = [*uses, own] if own != _NOWHERE else uses
        low, high = min(touched, default=0), max(touched, default=-1)
        marks = []
        for lane in range(max(len(before), len(self._lanes), own + 1)):
            passing = lane < len(before) and before[lane] is not None
            marks.append(self._mark(lane, own, uses, ending, (low, high), passing=passing))
            marks.append("─" if low <= lane < high else " ")
        return "".join(marks).rstrip() if own != _NOWHERE else f"{''.join(marks).rstrip()} ●"

    @staticmethod
    def _mark(lane: int, own: int, uses: list[int], ending: list[int], span: tuple[int, int], *, passing: bool) -> str:
        if lane == own:
            return "●"
        left, right = lane > span[0], lane < span[1]
        if lane in ending:
            return "┴" if left and right else "╯" if left else "╰"
        if lane in uses:
            return "┼" if left and right else "┤" if left else "├"
        if passing:
            return "│"
        return "─" if span[0] < lane < span[1] else " "

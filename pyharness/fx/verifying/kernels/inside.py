"""Which node within a kernel is the first to be wrong: each is held against what it is for the numbers it was given.

A copy of the kernel runs once more with what it was called with, and writes its variables down. Each node then gets
the kernel's own numbers, also wrong ones, so what is wrong then is wrong by the node itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import torch

from pyharness.fx.inductor.compiling import compiled_copy
from pyharness.fx.inductor.written_down import element_of, is_counted, read
from pyharness.fx.verifying.kernels.flips import flipped
from pyharness.fx.verifying.kernels.judging import Expected, Judge
from pyharness.fx.verifying.kernels.reference import name_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from torch.fx import GraphModule, Node

    from pyharness.fx.verifying.differences import Tolerance
    from pyharness.model.kernel_files import Kernel
    from pyharness.model.kernel_map import KernelLine, KernelUse
    from pyharness.model.results.compiled_verdict import KernelFaultKind

_VIEWS = {"view", "permute", "getitem", "expand", "unsqueeze", "squeeze", "slice", "select", "t", "alias", "reshape"}
_VIEWS |= {"convert_element_type", "_unsafe_view", "as_strided", "transpose"}
_ORDER = ("accumulate", "combine", "value", "store", "index", "load", "init", "mask", "check")
"""Which kind of line is shown of a node whose numbers no line has."""


@dataclass
class Called:
    """A call of a kernel, as it was."""

    kernel: Kernel
    use: KernelUse
    wrapper: str
    args: tuple[Any, ...]
    """Copies of what it was given."""
    known: Mapping[Node, Any]
    """Values of nodes that were computed before."""
    buffers: Mapping[Node, torch.Tensor]
    """Values of nodes that the call computed."""


@dataclass
class Wrong:
    """A node that is wrong, given what it was computed from."""

    node: Node
    expected: Expected
    actual: torch.Tensor
    where: torch.Tensor
    line: int | None
    through: tuple[str, ...] = ()
    kind: KernelFaultKind | None = None
    """Where it is known: that the kernel has the right value and its buffer has not, for one."""


@dataclass
class _Record:
    """Numbers of a node: what one variable held, or the buffer after the call."""

    row: KernelLine | None
    values: torch.Tensor
    known: torch.Tensor
    """Which elements were written down."""


class Inside:
    """Looks into one call of a kernel."""

    def __init__(self, graph: GraphModule, called: Called, tolerance: Tolerance) -> None:
        self._graph = graph
        self._called = called
        self._tolerance = tolerance
        self._nodes = {node.name: node for node in graph.graph.nodes}
        self._known = dict(called.known)
        self._judge = Judge(graph, self._known)
        self.flips: list[str] = []
        """What is to be said of comparisons that rounding alone turns."""

    def wrong(self) -> list[Wrong]:
        """The nodes that are, in the order of the graph."""
        records = self._records()
        checked = (self._checked(node, records[node]) for node in self._graph.graph.nodes if node in records)
        return [each for each in checked if each is not None]

    def _checked(self, node: Node, records: Sequence[_Record]) -> Wrong | None:
        expected = self._judge.expected(node)
        through = tuple(self._through(node))
        if expected is None:
            self._known.update({node: records[-1].values} if records[-1].row is None else {})
            return None
        found: Wrong | None = None
        for record in records:
            if record.values.shape != expected.wide.shape:
                continue
            where = expected.wrong(record.values, self._tolerance) & record.known
            if bool(where.any()):
                found = self._found(node, expected, record, where, found, through)
        self._known[node] = _merged(expected, records)
        said = flipped(node, found.where, self._judge, self._tolerance) if found else None
        if said is not None:
            self.flips.append(said)
            return None
        return found

    def _found(
        self,
        node: Node,
        expected: Expected,
        record: _Record,
        where: torch.Tensor,
        before: Wrong | None,
        through: tuple[str, ...],
    ) -> Wrong:
        """Vector bodies and tails, and what is stored, are of one value: the first line that is wrong is told."""
        values = record.values.double() if record.values.is_floating_point() else record.values
        if before is not None:
            values = torch.where(before.where, before.actual.to(values.dtype), values)
            return Wrong(node, expected, values, where | before.where, before.line, through, before.kind)
        values = torch.where(record.known, values, expected.wide.to(values.dtype))
        if record.row is not None:
            return Wrong(node, expected, values, where, record.row.line, through=through)
        logged = any(row.variable and any(held.node == node.name for held in row.holds) for row in self._rows)
        line = line_of(self._called.use, node, stored=logged)
        return Wrong(node, expected, values, where, line, through, "store" if logged else None)

    @property
    def _rows(self) -> Sequence[KernelLine]:
        return self._called.use.lines

    def _through(self, node: Node) -> Iterator[str]:
        """Nodes that are computed on the way, and of which there are no numbers."""
        seen, open_nodes = set(), list(node.all_input_nodes)
        while open_nodes:
            each = open_nodes.pop()
            if each not in seen and each not in self._known and each.op == "call_function":
                seen.add(each)
                open_nodes.extend(each.all_input_nodes)
        yield from (
            each.name for each in self._graph.graph.nodes if each in seen and name_of(each.target) not in _VIEWS
        )

    def _records(self) -> dict[Node, list[_Record]]:
        found: dict[Node, list[_Record]] = {}
        called = self._called
        copy = compiled_copy(called.kernel.source, self._rows)
        with TemporaryDirectory() as folder:
            file = Path(folder) / "variables"
            copy(file, *called.args)
            rows = {row.line: row for row in self._rows}
            for written in read(file, self._rows):
                row = rows[written.line]
                for held in row.holds:
                    node = self._nodes.get(held.node)
                    if node is not None and node not in called.known and is_counted(held):
                        self._note(found, node, row, element_of(held, row, written), written.lanes[written.counts])
        for node, value in called.buffers.items():
            found.setdefault(node, []).append(_Record(None, value, torch.ones(value.shape, dtype=torch.bool)))
        return found

    def _note(
        self,
        found: dict[Node, list[_Record]],
        node: Node,
        row: KernelLine,
        element: tuple[torch.Tensor, ...],
        numbers: torch.Tensor,
    ) -> None:
        sizes = tuple(node.meta["val"].shape)
        if not all(isinstance(each, int) for each in sizes):  # only the run knows
            sizes = tuple(int(each.max()) + 1 if each.numel() else 0 for each in element)
        records = found.setdefault(node, [])
        known = next((each for each in records if each.row is row), None)
        if known is None:
            known = _Record(row, torch.zeros(sizes, dtype=torch.float64), torch.zeros(sizes, dtype=torch.bool))
            records.append(known)
        inside = torch.ones(numbers.shape, dtype=torch.bool)
        for index, size in zip(element, sizes):  # noqa: B905  (CPython 3.9)
            inside &= (index >= 0) & (index < size)
        if not element:
            if numbers.numel():
                known.values.fill_(float(numbers[-1]))
                known.known.fill_(value=True)
            return
        at = tuple(each[inside] for each in element)
        known.values[at] = numbers[inside]
        known.known[at] = True


def _merged(expected: Expected, records: Sequence[_Record]) -> torch.Tensor:
    """What the kernel has of a node, and the node's own value where it has nothing.

    What it stores is what it has, but for numbers that a loop goes on with before they are rounded.
    """
    value = expected.wide.clone()
    integral = not value.is_floating_point()
    for record in sorted(records, key=lambda each: each.row is not None):
        if record.values.shape == value.shape:
            numbers = record.values.to(value.dtype) if integral else record.values.double()
            value = torch.where(record.known, numbers, value)
    return value


def line_of(use: KernelUse, node: Node, *, stored: bool = False) -> int | None:
    """The line to show of a node whose numbers no line has: where it is computed, or where it is ``stored``."""
    rows = [row for row in use.lines if row.node == node.name]
    kinds = ("store", *_ORDER) if stored else _ORDER
    return min(rows, key=lambda row: (kinds.index(row.kind), row.line)).line if rows else None

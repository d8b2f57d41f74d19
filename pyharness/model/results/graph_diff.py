"""What differs between two graphs, node by node: what became of each node, and which are new."""

from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Literal

from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

    from pyharness.model.graph import Graph, GraphNode

Change = Literal["same", "renamed", "moved", "changed", "removed", "added"]


@frozen
class Row:
    """A node before, after, or both."""

    change: Change
    before: GraphNode | None
    after: GraphNode | None
    parts: tuple[str, ...] = ()
    """Which parts of a changed node differ: op, target, arguments, shape."""

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        return {
            "change": self.change,
            "parts": list(self.parts),
            "before": _node(self.before),
            "after": _node(self.after),
        }


@frozen
class GraphDiff:
    """``rows``: in the order of the graph after; a node that is gone stands where it was."""

    before: Graph
    after: Graph
    rows: tuple[Row, ...]

    @property
    def counts(self) -> Mapping[str, int]:
        """How many rows of each change."""
        return Counter(row.change for row in self.rows)

    @property
    def same(self) -> bool:
        """Whether both compute the same, node for node, under whatever names."""
        return all(row.change in {"same", "renamed"} for row in self.rows)

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        return {"same": self.same, "counts": dict(self.counts), "rows": [row.to_json() for row in self.rows]}


def compare(before: Graph, after: Graph) -> GraphDiff:
    """Pair nodes by what they are, then by what they do, then by name; what has no partner was removed or added."""
    pairs = _paired(before.nodes, after.nodes)
    names = {before.nodes[old].name: after.nodes[new].name for old, new in pairs.items()}
    in_order = set(_longest_run(pairs))
    rows: list[Row] = []
    of_new = {new: old for old, new in pairs.items()}
    gone = iter([old for old in range(len(before.nodes)) if old not in pairs] + [len(before.nodes)])
    next_gone = next(gone)
    for new, node in enumerate(after.nodes):
        old = of_new.get(new)
        if old is None:
            rows.append(Row("added", None, node))
            continue
        while old in in_order and next_gone < old:
            rows.append(Row("removed", before.nodes[next_gone], None))
            next_gone = next(gone)
        rows.append(_row(before.nodes[old], node, names, moved=old not in in_order))
    left = [next_gone, *gone]
    rows += [Row("removed", before.nodes[old], None) for old in left if old < len(before.nodes)]
    return GraphDiff(before, after, tuple(rows))


def _row(old: GraphNode, new: GraphNode, names: Mapping[str, str], *, moved: bool) -> Row:
    differences = {
        "op": old.op != new.op,
        "target": _target(old) != _target(new),
        "arguments": _renamed(old, names) != new.arguments and old.op != "placeholder",
        "shape": bool(old.shape and new.shape) and old.shape != new.shape,
    }
    parts = tuple(name for name, differs in differences.items() if differs)
    change: Change = "changed" if parts else "moved" if moved else "same" if old.name == new.name else "renamed"
    return Row(change, old, new, parts)


def _renamed(node: GraphNode, names: Mapping[str, str]) -> str:
    """The node's arguments, with each input under the name that it has in the other graph."""
    known = {name: names.get(name, name) for name in node.inputs}
    return _replaced(node, known.__getitem__)


def _pattern(node: GraphNode) -> str:
    """The node's arguments without the names of inputs."""
    return _replaced(node, lambda _: "·")


def _replaced(node: GraphNode, new: Callable[[str], str]) -> str:
    if not node.inputs:
        return node.arguments
    # A name in quotes is text, one before `=` a keyword.
    pattern = rf"(?<!['\w.])({'|'.join(map(re.escape, node.inputs))})(?![\w'])(?!\s*=(?!=))"
    return re.sub(pattern, lambda match: new(match[1]), node.arguments)


def _target(node: GraphNode) -> tuple[str, str]:
    """What it calls or reads; an input's is only its name."""
    return ("", "") if node.op in {"placeholder", "output"} else (node.target, node.kind)


_KEYS: tuple[Callable[[GraphNode], Hashable], ...] = (
    lambda node: (node.name, node.op, node.target, node.kind, node.arguments),
    lambda node: (node.name, node.op, node.target),
    lambda node: (node.op, _target(node), _pattern(node)),
    lambda node: (node.op, _target(node)),
)


def _paired(before: Sequence[GraphNode], after: Sequence[GraphNode]) -> dict[int, int]:
    """Indices of partners: each key pairs what the ones before it left, between partners that are there already."""
    pairs: dict[int, int] = {}
    for key in _KEYS:
        for olds, news in _gaps(pairs, len(before), len(after)):
            left, right = [key(before[index]) for index in olds], [key(after[index]) for index in news]
            for block in SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks():
                pairs.update({olds[block.a + step]: news[block.b + step] for step in range(block.size)})
    taken = set(pairs.values())
    by_name = {node.name: index for index, node in enumerate(after) if index not in taken}
    for index, node in enumerate(before):
        if index not in pairs and node.name in by_name:
            pairs[index] = by_name.pop(node.name)
    return pairs


def _gaps(pairs: dict[int, int], before: int, after: int) -> list[tuple[range, range]]:
    """What lies between neighbouring partners, where both sides have something."""
    found, old, new = [], 0, 0
    for next_old, next_new in [*sorted(pairs.items()), (before, after)]:
        if next_old > old and next_new > new:
            found.append((range(old, next_old), range(new, next_new)))
        old, new = next_old + 1, next_new + 1
    return found


def _longest_run(pairs: dict[int, int]) -> Iterator[int]:
    """The pairs whose partners are in order: all but the moved ones."""
    highest = -1
    for old, new in sorted(pairs.items()):
        if new > highest:
            highest = new
            yield old


def _node(node: GraphNode | None) -> dict[str, Any] | None:
    return {**node.to_json(), "arguments": node.arguments, "shape": node.shape} if node else None

"""Which node of a transformed graph stands for which node of the original: guesses, each from other evidence.

No single kind of evidence is enough. Names shift when a graph is traced again, equal values may be chance, places are
shared by the nodes of a line. So there are two alignments (``HYPOTHESES``), and what they imply is tried: the one
that explains a difference with the fewest faults is taken (``locating``).
"""

from __future__ import annotations

from collections import defaultdict
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from torch.fx.node import map_arg

from pyharness.fx import provenance
from pyharness.fx.verifying.differences import Tolerance, agree
from pyharness.fx.verifying.signatures import Term, call, inputs, likeness, meanings, uses, word
from pyharness.fx.verifying.similarity import Marks, keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from torch.fx import Node

    from pyharness.fx.verifying.execution import Execution


class Alignment:
    """Pairs of nodes, at most one for each node of either graph."""

    def __init__(self, original: Execution, transformed: Execution) -> None:
        self.original = original
        self.transformed = transformed
        self.of: dict[Node, Node] = {}
        """From the transformed graph's nodes to the original's."""
        self.back: dict[Node, Node] = {}
        self.instead: dict[Node, Node] = {}
        """Nodes that came between: the original takes the value of a node which has a counterpart of its own."""

    def expected(self, node: Node) -> Node | None:
        """The original's node whose value ``node`` should have."""
        return self.of.get(node) or self.instead.get(node)

    def pair(self, node: Node, other: Node) -> bool:
        """Pair two nodes, unless one of them is."""
        if node in self.of or other in self.back:
            return False
        self.of[node] = other
        self.back[other] = node
        return True

    def part(self, node: Node) -> None:
        """Undo a pair."""
        self.back.pop(self.of.pop(node), None)

    def left(self) -> tuple[list[Node], list[Node]]:
        """Nodes of either graph that are without, in order."""
        mine = [node for node in self.transformed.nodes if node not in self.of]
        return mine, [node for node in self.original.nodes if node not in self.back]


def ends(alignment: Alignment) -> None:
    """The outputs, and inputs by position; where one graph takes a nested value as several, those that are the same."""
    for op in ("placeholder", "output"):
        mine, others = (
            [node for node in each.nodes if node.op == op] for each in (alignment.transformed, alignment.original)
        )
        for node, other in zip(mine, others):  # noqa: B905  (as above)
            if len(mine) == len(others) or _equal(alignment, node, other):
                alignment.pair(node, other)


def congruent(alignment: Alignment) -> None:
    """Nodes that do the same with paired inputs; among several by what is done with their value, then by name."""
    groups = _congruent(alignment)
    if any(len(mine) * len(others) > 1 for mine, others in groups):
        known = {**uses(alignment.transformed.nodes), **uses(alignment.original.nodes)}
    for mine, others in groups:
        if len(mine) == len(others) == 1:
            alignment.pair(mine[0], others[0])
            continue
        pairs = [
            (-likeness(known[one], known[two]), one.name != two.name, n, m)
            for n, one in enumerate(mine)
            for m, two in enumerate(others)
        ]
        for *_, n, m in sorted(pairs):
            alignment.pair(mine[n], others[m])


def _congruent(alignment: Alignment) -> list[tuple[list[Node], list[Node]]]:
    """Nodes that are left, of both graphs, in groups that compute the same."""
    theirs = meanings(alignment.original.nodes, {})
    known = {node: theirs[other] for node, other in alignment.of.items()}
    groups: dict[str, tuple[list[Node], list[Node]]] = defaultdict(lambda: ([], []))
    for node, meaning in meanings([node for node in alignment.transformed.nodes if node not in known], known).items():
        if node not in alignment.of:
            groups[meaning][0].append(node)
    for other, meaning in theirs.items():
        if other not in alignment.back:
            groups[meaning][1].append(other)
    return [group for group in groups.values() if all(group)]


def by_name(alignment: Alignment) -> None:
    """Nodes of one name that call the same."""
    _by_key(alignment, lambda node: (node.name, *call(node)))


def by_place(alignment: Alignment) -> None:
    """Nodes that call the same and were traced in one module from one line, where as many are on both sides."""

    def place(node: Node) -> object:
        found = provenance.of(node)
        return None if found.file is None else (found, *call(node))

    _by_key(alignment, place)


def _by_key(alignment: Alignment, key: Callable[[Node], object]) -> None:
    groups = []
    for nodes in alignment.left():
        group: dict[object, list[Node]] = defaultdict(list)
        for node in nodes:
            group[key(node)].append(node)
        groups.append(group)
    for name, mine in groups[0].items():
        others = groups[1].get(name, [])
        if name is not None and len(mine) == len(others):
            for pair in zip(mine, others, strict=True):
                alignment.pair(*pair)


def by_inputs(alignment: Alignment) -> None:
    """Nodes that take the same, whatever they call, where one is left on either side."""
    known = {node: other.name for node, other in alignment.of.items()}

    def taken(node: Node) -> object:
        args, kwargs = map_arg((node.args, node.kwargs), lambda each: Term(known.get(each, each.name)))
        return repr((args, sorted(kwargs.items()))) if node.all_input_nodes else None

    _by_key(alignment, taken)


def backward(alignment: Alignment) -> None:
    """What paired nodes take at the same place."""
    for node, argument, other in _taken(alignment):
        del node
        alignment.pair(argument, other)


def between(alignment: Alignment) -> None:
    """A node without counterpart, where the original takes a value that has one: something was put between."""
    for _, argument, other in _taken(alignment):
        if argument not in alignment.of and other in alignment.back:
            alignment.instead.setdefault(argument, other)


def _taken(alignment: Alignment) -> Iterator[tuple[Node, Node, Node]]:
    """From the output up: a paired node, an input of it, and what the original has there."""
    for node in reversed(alignment.transformed.nodes):
        other = alignment.of.get(node)
        if other is None or (word(node) != word(other) and node.op != "output"):
            continue
        mine, theirs = inputs(node), inputs(other)
        if mine.keys() == theirs.keys():
            yield from ((node, mine[path], theirs[path]) for path in mine)
        elif node.op == "output" and len(mine) == len(theirs):
            yield from ((node, *pair) for pair in zip(mine.values(), theirs.values(), strict=True))


def in_order(alignment: Alignment) -> None:
    """What is left, by the longest common sequences of calls, whatever library's name an op is called by."""
    mine, others = alignment.left()
    matcher = SequenceMatcher(None, [*map(word, mine)], [*map(word, others)], autojunk=False)
    for block in matcher.get_matching_blocks():
        for offset in range(block.size):
            alignment.pair(mine[block.a + offset], others[block.b + offset])


def by_value(alignment: Alignment) -> None:
    """Nodes whose value the original has elsewhere, where that value can hardly be chance.

    A node whose value is not that of its counterpart leaves it for one with the same value.
    """
    mine, others = [*alignment.transformed.nodes], alignment.left()[1]
    near: dict[object, list[Node]] = defaultdict(list)
    marks = Marks()
    for other in others:
        for key in keys(alignment.original.steps[other].result):
            near[key].append(other)
    for node in mine:
        result = alignment.transformed.steps[node].result
        counterpart = alignment.of.get(node)
        if node.op == "output" or (counterpart and _equal(alignment, node, counterpart)):
            continue
        here = marks.of(alignment.transformed, node)
        others = [other for key in keys(result) for other in near[key] if marks.may(here, alignment.original, other)]
        same = [other for other in others if _equal(alignment, node, other)]
        if len(same) == 1 and same[0] not in alignment.back:
            if counterpart:
                alignment.part(node)
            alignment.pair(node, same[0])


def doubted(alignment: Alignment) -> None:
    """Part those pairs that do not have the same value, so that those who take it can say what it stands for."""
    for node, other in list(alignment.of.items()):
        if node.op not in {"placeholder", "output"} and not _equal(alignment, node, other):
            alignment.part(node)


def _equal(alignment: Alignment, node: Node, other: Node) -> bool:
    return agree(alignment.original.steps[other].result, alignment.transformed.steps[node].result, Tolerance())


_BY_GRAPH = (ends, congruent, by_name, congruent, backward, congruent, by_place, congruent)
HYPOTHESES: tuple[tuple[Callable[[Alignment], None], ...], ...] = (
    (*_BY_GRAPH, by_inputs, congruent, in_order, between),
    (ends, congruent, by_value, doubted, backward, congruent, by_place, in_order, between),
)
"""By what nodes are; and by the values that they gave, then by what is done with those.

Three more (by names first, by places without names, by values without doubt) found no other node in 132 graphs with one
mutation or two: random ones and models, renamed and reordered, traced again, fused, inlined.
"""


def align(rules: Iterable[Callable[[Alignment], None]], original: Execution, transformed: Execution) -> Alignment:
    """Pair by one rule after another."""
    alignment = Alignment(original, transformed)
    for rule in rules:
        rule(alignment)
    return alignment

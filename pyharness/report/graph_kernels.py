"""A graph as inductor runs it: node by node, in boxes of the kernels that compute them.

A kernel may compute again what another has computed and not stored: such a node stands in both boxes. What lies between
two nodes of a kernel, a view, stands in its box, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pyharness.model.graph import Graph, GraphNode


@dataclass(eq=False)
class Placed:
    """A node where it stands; one that several kernels compute stands several times."""

    node: GraphNode
    number: int
    """The number of the node in the graph, counted from 0."""
    box: int | None
    """The place in ``Graph.kernels`` of the kernel that computes it; ``None`` for a call of torch's own, or a view."""
    inputs: tuple[Placed, ...] = field(default=(), repr=False)


def placed(graph: Graph) -> list[Placed]:
    """All nodes, in an order against which no value runs, and in which the nodes of a box follow each other.

    A box whose nodes wait for something that waits for others of them comes in several parts.
    """
    copies = _copies(graph)
    owner = {name: _owner(graph, each) for name, each in copies.items()}
    everything = [each for some in copies.values() for each in some]
    for each in everything:
        each.inputs = tuple(_read(copies[name], owner[name], each.box) for name in each.node.inputs if name in copies)
    _take_in(everything)
    return list(_ordered(everything))


def _copies(graph: Graph) -> dict[str, list[Placed]]:
    boxes: dict[str, list[int]] = {}
    for number, box in enumerate(graph.kernels):
        for each in box.nodes:
            boxes.setdefault(each.name, []).append(number)
    return {
        node.name: [Placed(node, number, box) for box in boxes.get(node.name) or (None,)]
        for number, node in enumerate(graph.nodes)
    }


def _owner(graph: Graph, copies: Sequence[Placed]) -> Placed:
    """The one that others read: that of the kernel that writes it to memory."""
    stored = (each for each in copies if each.box is not None and _is_stored(graph, each))
    return next(stored, copies[0])


def _is_stored(graph: Graph, each: Placed) -> bool:
    return any(node.name == each.node.name and node.stored for node in graph.kernels[each.box or 0].nodes)


def _read(copies: Iterable[Placed], owner: Placed, box: int | None) -> Placed:
    """What a node in ``box`` uses: the box's own, else the one in memory."""
    return next((each for each in copies if box is not None and each.box == box), owner)


def _take_in(everything: Sequence[Placed]) -> None:
    """Put what no kernel computes, and lies between two nodes of one, into its box."""
    users = _users(everything)
    above: dict[Placed, set[int]] = {}
    below: dict[Placed, set[int]] = {}
    outside = [each for each in everything if each.box is None]
    for each in outside:
        above[each] = _boxes(each.inputs, above)
    for each in reversed(outside):
        below[each] = _boxes(users[each], below)
    for each in outside:
        between = above[each] & below[each]
        each.box = min(between) if between else None


def _boxes(around: Iterable[Placed], known: Mapping[Placed, set[int]]) -> set[int]:
    found: set[int] = set()
    for each in around:
        found |= known.get(each, set()) if each.box is None else {each.box}
    return found


def _users(everything: Iterable[Placed]) -> dict[Placed, list[Placed]]:
    users: dict[Placed, list[Placed]] = {each: [] for each in everything}
    for each in users:
        for value in each.inputs:
            users[value].append(each)
    return users


def _ordered(everything: Sequence[Placed]) -> Iterator[Placed]:
    """Box by box as soon as all that it needs is there; where none is, the first node that can be."""
    left = sorted(everything, key=lambda each: each.number)
    while left:
        done = dict.fromkeys(_whole_boxes(left))
        if not done:
            done[next(each for each in left if not set(each.inputs).intersection(left))] = None
        yield from done
        left = [each for each in left if each not in done]


def _whole_boxes(left: Sequence[Placed]) -> Iterator[Placed]:
    """Boxes with all their nodes, and nodes outside, as many as can be; the earlier in the graph first."""
    boxes: dict[object, list[Placed]] = {}
    for each in left:
        boxes.setdefault(each if each.box is None else each.box, []).append(each)
    parts = list(boxes.values())
    part_of = {each: number for number, part in enumerate(parts) for each in part}
    needs = [
        {part_of[value] for each in part for value in each.inputs if value in part_of} - {number}
        for number, part in enumerate(parts)
    ]
    users: dict[int, list[int]] = {}
    for number, needed in enumerate(needs):
        for other in needed:
            users.setdefault(other, []).append(number)
    ready = [number for number, needed in enumerate(needs) if not needed]
    while ready:
        number = heappop(ready)
        yield from parts[number]
        for user in users.get(number, ()):
            needs[user].discard(number)
            if not needs[user]:
                heappush(ready, user)

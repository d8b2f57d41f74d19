"""Finds a pattern in a graph: torch's matcher on canonical copies, operands of sums and products in either order."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import nn
from torch.fx.passes.utils.matcher_utils import InternalMatch, SubgraphMatcher

from pyharness.fx.code.mapping import target_of
from pyharness.fx.transforms.canonical import canonical, is_in_place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch.fx import Graph, GraphModule, Node

_COMMUTATIVE = (torch.add, torch.mul)
MOST_SWAPPED = 6
"""Sums and products of a pattern whose operands are tried both ways: 2^6 patterns."""


@dataclass(frozen=True)
class Match:
    """One place where a pattern is found."""

    inputs: tuple[Any, ...]
    """What each input of the pattern is here: nodes, or constants."""
    nodes: tuple[Node, ...]
    """The nodes of the pattern, in the graph's order."""
    results: tuple[Node, ...]
    """The nodes that the pattern returns, in its order."""


def matches_of(module: GraphModule, pattern: GraphModule) -> list[Match]:
    """Every place where ``pattern`` is found; none overlaps another, and no value inside is used outside."""
    originals = canonical(module)
    position = {node: index for index, node in enumerate(module.graph.nodes)}
    order = {copied: position[node] for copied, node in originals.items()}
    found: list[Match] = []
    taken: set[Node] = set()
    for variant in _variants(pattern):
        for match in _matcher(variant).match(next(iter(originals)).graph):
            inner = [node for each, node in match.nodes_map.items() if each.op not in {"placeholder", "output"}]
            nodes = tuple(originals[node] for node in sorted(inner, key=order.__getitem__))
            if taken.isdisjoint(inner) and not (set(inner) & set(match.placeholder_nodes) or _changed_within(nodes)):
                taken.update(inner)
                inputs = tuple(originals.get(each, each) for each in match.placeholder_nodes)
                found.append(Match(inputs, nodes, tuple(originals[node] for node in match.returning_nodes)))
    return sorted(found, key=lambda match: position[match.nodes[-1]])


def _changed_within(nodes: tuple[Node, ...]) -> bool:
    """Whether something that is no part of the match changes, in place and midway, a value that the match reads."""
    read = {each for node in nodes for each in (node, *node.all_input_nodes)}
    node = nodes[0]
    while node is not nodes[-1]:
        node = node.next
        if node not in nodes and is_in_place(node) and not read.isdisjoint(node.all_input_nodes[:1]):
            return True
    return False


def missing(module: GraphModule, pattern: GraphModule) -> list[str]:
    """The calls of ``pattern`` that ``module`` makes nowhere."""
    made = {node.target for node in canonical(module)}
    calls = [node for node in canonical(pattern) if node.op not in {"placeholder", "output", "get_attr"}]
    return list(dict.fromkeys(target_of(node) for node in calls if node.target not in made))


def as_written(pattern: GraphModule) -> list[str]:
    """The sums and products of ``pattern`` whose operands are looked for in the order of the pattern only."""
    originals = canonical(pattern)
    return [originals[copied].name for copied in _swappable(list(originals))[MOST_SWAPPED:]]


class _Matcher(SubgraphMatcher):
    """Modules are the same where their classes are (a pattern has other paths), and two inputs may be one node."""

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """Match as torch does, which raises KeyError where a result of the pattern is like no node of the graph."""
        found = (any(self._nodes_are_equal(anchor, node) for node in graph.nodes) for anchor in self.pattern_anchors)
        return super().match(graph, node_name_match) if all(found) else []

    def _match_nodes(self, pn: Node, gn: Node, match: InternalMatch, node_name_match: str = "") -> bool:
        if pn.op == "placeholder" and pn not in match.nodes_map:
            match.nodes_map[pn] = gn
            return True
        return bool(super()._match_nodes(pn, gn, match, node_name_match))

    def _nodes_are_equal(self, pn: Node, gn: Node, node_name_match: str = "") -> bool:
        if pn.op == gn.op == "call_module":
            return type(_module(pn)) is type(_module(gn))
        return bool(super()._nodes_are_equal(pn, gn, node_name_match))


def _module(node: Node) -> nn.Module:
    owner = cast("GraphModule", node.graph.owning_module)  # canonical copies have one
    return owner.get_submodule(str(node.target))


def _matcher(pattern: Graph) -> SubgraphMatcher:
    return _Matcher(pattern, match_output=False, match_placeholder=False)


def _variants(pattern: GraphModule) -> Iterator[Graph]:
    """The pattern with the operands of its sums and products in every order."""
    count = len(_swappable(list(canonical(pattern))))
    for swaps in itertools.product((False, True), repeat=min(count, MOST_SWAPPED)):
        nodes = list(canonical(pattern))
        for node, swapped in zip(_swappable(nodes), swaps, strict=False):
            if swapped:
                node.kwargs = {"other": node.kwargs["self"], "self": node.kwargs["other"]}
        yield nodes[0].graph


def _swappable(nodes: list[Node]) -> list[Node]:
    return [node for node in nodes if node.target in _COMMUTATIVE and set(node.kwargs) == {"self", "other"}]

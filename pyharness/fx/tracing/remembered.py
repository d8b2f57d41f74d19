"""Provenance and tags in a pickle: torch pickles a GraphModule's code, and traces that again when it loads it.

Torch keeps the graph's tracer class in the pickle and traces with it, and beside it ``_tracer_extras``, a dict of
arguments. ``Record`` is such a dict, empty as arguments go, which writes down the graph's nodes when it is pickled;
where the tracer is not ours, nothing.
"""

from __future__ import annotations

import copy
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from torch.fx import GraphModule

from pyharness.fx.code.mapping import target_of
from pyharness.fx.provenance import KEY
from pyharness.fx.tracing.tags import FIELD

if TYPE_CHECKING:
    from torch import nn
    from torch.fx import Graph, Node

_ATTRIBUTE = "_tracer_extras"
_KEPT = (KEY, FIELD)
Row = tuple[str, str, dict[str, Any]]
"""Op, target and what is kept of one node's ``meta``."""


class Record(dict[str, Any]):
    """What is known of the nodes of ``graph``, or was when it was pickled."""

    def __init__(self, graph: Graph | None, rows: list[Row] | None = None) -> None:
        super().__init__()
        self._graph = graph
        self._rows = rows or []

    def __bool__(self) -> bool:  # torch drops what is false
        return True

    @property
    def rows(self) -> list[Row]:
        """One for each node, in the graph's order."""
        return self._rows if self._graph is None else [_row(node) for node in self._graph.nodes]

    def __reduce__(self) -> tuple[Any, ...]:
        foreign = self._graph is not None and not _is_ours(self._graph._tracer_cls)  # noqa: SLF001
        return (dict, ()) if foreign else (Record, (None, self.rows))

    def __deepcopy__(self, memo: dict[int, Any]) -> Record:
        """A record of the copied graph, which is to have one too: torch leaves it out when it copies a graph."""
        graph = None if self._graph is None else copy.deepcopy(self._graph, memo)
        copied = Record(graph, self._rows)
        if graph is not None:
            graph._tracer_extras = copied  # noqa: SLF001  (torch's own place for it)
        return copied


def remember(module: GraphModule) -> GraphModule:
    """Make ``module``'s pickles keep provenance and tags, for one that no tracer or transform of ours made.

    Nothing is done where the graph's tracer is somebody else's: torch loads a pickle with it. Returns ``module``.
    """
    from pyharness.fx.tracing.tracer import Tracer

    graph = module.graph
    if _is_torchs(graph._tracer_cls):  # noqa: SLF001
        graph._tracer_cls = module._tracer_cls = Tracer  # noqa: SLF001
    module._tracer_extras = attach(graph)  # noqa: SLF001
    return module


def attach(graph: Graph) -> Record:
    """Let whatever GraphModule is made of ``graph`` pickle its record."""
    record = Record(graph)
    graph._tracer_extras = record  # noqa: SLF001
    return record


def recall(graph: Graph, root: nn.Module) -> None:
    """Give the nodes of ``graph``, just traced from ``root``, what the GraphModule that it was knew of them."""
    record = vars(root).get(_ATTRIBUTE)
    if not isinstance(record, Record):
        return
    rows, nodes = record.rows, list(graph.nodes)
    if not isinstance(root, GraphModule):
        for node in nodes:  # the line that loads a pickle made none of them
            for name in _KEPT:
                node.meta.pop(name, None)
    for old, new in _pairs([row[:2] for row in rows], [_row(node)[:2] for node in nodes]):
        nodes[new].meta.update(rows[old][2])


def _row(node: Node) -> Row:
    return node.op, target_of(node), {name: node.meta[name] for name in _KEPT if name in node.meta}


def _pairs(old: list[Any], new: list[Any]) -> list[tuple[int, int]]:
    """Positions of the same calls; tracing again joins what gets an attribute twice."""
    if old == new:
        return [(index, index) for index in range(len(new))]
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    return [(block.a + index, block.b + index) for block in blocks for index in range(block.size)]


def _is_torchs(tracer: type[Any] | None) -> bool:
    return tracer is None or tracer.__module__.startswith("torch.fx.")


def _is_ours(tracer: type[Any] | None) -> bool:
    from pyharness.fx.tracing.tracer import Tracer

    return tracer is not None and issubclass(tracer, Tracer) and "<locals>" not in tracer.__qualname__

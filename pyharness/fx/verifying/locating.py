"""Finds the node that makes the first difference between two graphs.

Every hypothesis about which node stands for which (``alignment``) is tried by a run that puts the original's value in
the place of each wrong one (``replay``). What each leaves as faults is counted, and the simplest explanation is taken:
one node that errs rather than five, and none whose value nobody can judge.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch.fx import GraphModule
from torch.fx.node import map_arg

from pyharness.fx.verifying.alignment import HYPOTHESES, align
from pyharness.fx.verifying.calls import bound, described, flat, graph_module, is_observed, observed
from pyharness.fx.verifying.causes import cause_of
from pyharness.fx.verifying.differences import EXACT, agree
from pyharness.fx.verifying.execution import Execution, rebuilt
from pyharness.fx.verifying.faults import fault
from pyharness.fx.verifying.replay import Replay, TooCostlyError
from pyharness.fx.verifying.values import Leaf, copied
from pyharness.model.results.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from pyharness.fx.verifying.calls import Outcome
    from pyharness.fx.verifying.differences import Tolerance
    from pyharness.fx.verifying.keeping import Kept
    from pyharness.fx.verifying.replay import Root
    from pyharness.model.results.verdict import Difference, Fault

Ran = TypeVar("Ran", bound=Execution)


@dataclass(frozen=True)
class Pair:
    """What is compared, and what both are called with."""

    original: Callable[..., Any]
    transformed: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


class Search:
    """One pair of graphs on one set of inputs."""

    def __init__(self, pair: Pair, tolerance: Tolerance, state: Kept) -> None:
        self.pair = pair
        self._tolerance = tolerance
        self._state = state
        self.transformed = self._graph(pair.transformed)
        self.actual: Execution = self.ran(self.transformed, Execution)
        self.expected = self.ran(self._graph(pair.original), Execution)

    def _graph(self, function: Callable[..., Any]) -> GraphModule:
        try:
            return graph_module(function)
        except Exception:  # noqa: BLE001  (it branches on values, is compiled, is no Python)
            self._state.begin()
            return observed(function, *copied((self.pair.args, dict(self.pair.kwargs))))

    def ran(self, module: GraphModule, make: Callable[..., Ran]) -> Ran:
        """``module``, run node by node from the same state as every other run."""
        self._state.begin()
        args, kwargs = copied((self.pair.args, dict(self.pair.kwargs)))
        made = make(module, bound(module, args, kwargs))
        made.run()
        return made

    def best(self) -> Replay:
        """The simplest explanation; where values remain that nobody can judge, with the original's modules opened."""
        plain = self.actual
        found = self._refined(self._tried())
        self.actual = plain
        if any(root.through for root in found.roots):
            called = {str(node.target) for node in self.transformed.graph.nodes if node.op == "call_module"}
            finer = self._opened(called)
            if finer is not None:
                whole, self.expected = self.expected, finer
                found = min(found, self._refined(self._tried()), key=lambda each: each.cost)
                self.actual, self.expected = plain, whole
        return found

    def _refined(self, found: Replay) -> Replay:
        """Align again by the values that nodes have once the faults above them are mended, while that tells more."""
        while found.cost > 1:
            self.actual = found
            again = self._tried(found)
            if again is found:
                break
            found = again
        return found

    def _opened(self, called: Collection[str]) -> Execution | None:
        """The original with those modules traced into that the transformed graph does not call."""
        whole = {str(node.target) for node in self.expected.nodes if node.op == "call_module"}
        if whole <= set(called):
            return None
        try:
            return self.ran(graph_module(self.pair.original, called), Execution)
        except Exception:  # noqa: BLE001  (a module that cannot be traced stays whole)
            return None

    def _tried(self, known: Replay | None = None) -> Replay:
        """The simplest explanation of all hypotheses, ``known`` where none is simpler."""
        found = known
        for rules in HYPOTHESES:
            alignment = align(rules, self.expected, self.actual)
            for tolerance in (EXACT, self._tolerance):
                limit = found.cost - 1 if found else math.inf
                replay = partial(Replay, alignment=alignment, tolerance=tolerance, shown=self._tolerance, limit=limit)
                with suppress(TooCostlyError):  # of equals the first stays: the exact one, by what nodes are
                    found = self.ran(self.transformed, replay)  # the one before and its values are let go
                if found and found.cost <= 1:
                    return found
        assert found is not None  # noqa: S101  (the first one has no limit)
        return found


def locate(
    pair: Pair, outcomes: tuple[Outcome, Outcome], found: tuple[Difference, ...], tolerance: Tolerance, state: Kept
) -> Verdict:
    """The verdict on two whose ``outcomes`` differ by ``found``."""
    try:
        search = Search(pair, tolerance, state)
    except Exception as error:  # noqa: BLE001  (the user's code; torch.fx raises what it likes)
        return Verdict(ok=False, outputs=found, notes=(f"no graph to search: {described(error)}",))
    replay = search.best()
    notes = tuple(_notes(search, outcomes, tolerance))
    if replay.roots:
        first, *others = _faults(replay, tolerance, state)
        return Verdict(ok=False, first=first, others=tuple(others), outputs=found, notes=notes)
    drew = any(step.random for step in (*search.expected.steps.values(), *search.actual.steps.values()))
    if not notes and drew and _same_left(replay, tolerance):
        return Verdict(ok=True, notes=(_DREW,))
    return Verdict(ok=False, outputs=found, notes=notes)


def _same_left(replay: Replay, tolerance: Tolerance) -> bool:
    """Whether the buffers that both have are equal in the end, once both drew the same random numbers."""
    wanted, left = dict(replay.original.left), dict(replay.left)
    names = [name for name in wanted if name in left]
    before, after = ([Leaf(name, each[name]) for name in names] for each in (wanted, left))
    return agree(before, after, tolerance)


_DREW = (
    "random numbers are drawn in another order: the results are equal once each node draws the numbers that its "
    "counterpart in the original draws"
)


def _notes(search: Search, outcomes: tuple[Outcome, Outcome], tolerance: Tolerance) -> Iterator[str]:
    """Where a graph does not do what its module does, so that no node of it can be to blame."""
    for name, run, real in zip(("original", "transformed"), (search.expected, search.actual), outcomes, strict=True):
        result = next(step.result for node, step in run.steps.items() if node.op == "output")
        given = [leaf for leaf in real.result if isinstance(leaf.value, torch.Tensor) or not is_observed(run.module)]
        if real.error is None and not agree(flat(given), flat(result), tolerance):
            yield f"the {name} module does not give what its graph gives: {_WHY[name]}"


_WHY = {
    "original": "tracing has fixed what its forward decides by values, modes or attributes",
    "transformed": "the graph was changed without recompile(), its file was edited, or tracing has fixed a decision",
}


def _faults(replay: Replay, tolerance: Tolerance, state: Kept) -> Iterator[Fault]:
    """The faults in order of execution, those that are in the graph of a called module inside that."""
    order = {node: index for index, node in enumerate(replay.nodes)}
    missing = set()
    state.begin()  # modules are compared as they were before any run
    for root in sorted(replay.roots, key=lambda each: order[each.node]):
        cause = cause_of(root, replay)
        if cause.missing is not None and cause.missing in missing:
            continue  # one node that is gone is one fault, whoever took its value
        missing.add(cause.missing)
        inner = _inside(root, replay, tolerance, state) if root.changed is None else None
        yield inner or fault(root, replay, cause)


def _inside(root: Root, replay: Replay, tolerance: Tolerance, state: Kept) -> Fault | None:
    """The fault in the graph of the module that ``root`` calls, where both have one."""
    modules = replay.original.held(root.counterpart), replay.held(root.node)
    if modules[0] is None or not isinstance(modules[1], GraphModule):
        return None
    taken = {
        node: rebuilt(replay.values[node], replay.version_used(replay.steps[root.node], node).leaves)
        for node in root.node.all_input_nodes
    }
    args, kwargs = map_arg((root.node.args, root.node.kwargs), taken.__getitem__)
    inner = locate_graphs(Pair(modules[0], modules[1], args, kwargs), tolerance, state)
    return replace(inner, within=".".join(filter(None, (str(root.node.target), inner.within)))) if inner else None


def locate_graphs(pair: Pair, tolerance: Tolerance, state: Kept) -> Fault | None:
    """The first fault of two graphs that are called by others."""
    try:
        search = Search(pair, tolerance, state)
    except Exception:  # noqa: BLE001  (as above; the call itself is to blame then)
        return None
    return next(iter(_faults(search.best(), tolerance, state)), None)

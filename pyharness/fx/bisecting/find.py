"""``bisect``: the first bad pass of a list, a small graph that shows it, and a script that does so alone."""

from __future__ import annotations

import copy
import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyharness.fx.bisecting.cases import Case, plain_case, seen_values, with_graph
from pyharness.fx.bisecting.change import change, plain_code
from pyharness.fx.bisecting.checks import Check, Outcome, Values, lint, raised
from pyharness.fx.bisecting.passes import BisectError, graph_module, passes_of
from pyharness.fx.bisecting.script import Writer, folder_for
from pyharness.fx.bisecting.search import Search, elsewhere
from pyharness.fx.bisecting.shrink import Shrinker
from pyharness.fx.exporting.error import ExportError
from pyharness.model import given_numbers
from pyharness.model.errors import UsageError
from pyharness.model.results.bad_pass import BadPass, Shrunk

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    import torch
    from torch.fx import GraphModule

    from pyharness.fx.bisecting.search import Found
    from pyharness.model.results.bad_pass import Script

_ATTEMPTS = 6
"""Runs of an unsteady pass on one candidate, before it is taken to be good; more where much depends on it."""


def bisect(  # noqa: PLR0913  (one for each thing that a user may want otherwise)
    module: torch.nn.Module,
    passes: Sequence[Callable[..., Any]] | Mapping[str, Callable[..., Any]],
    inputs: Sequence[Any] | torch.Tensor = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    check: Callable[..., Any] | None = None,
    sweep: bool = True,
    shrink: bool = True,
    limit: int = 400,
    folder: str | os.PathLike[str] | None = None,
    script: bool = True,
) -> BadPass:
    """Find the first of ``passes`` after which ``module`` is bad.

    A pass takes a Graph or a GraphModule (its first parameter's annotation or name says which) and returns one, a
    ``PassResult``, or ``None`` for a change in place. ``check`` is ``check(transformed)`` or
    ``check(original, transformed, inputs)``: false, or raising, is bad. Without one, ``pyharness.fx.verify`` compares
    with the original on ``inputs``. Every run starts from a deep copy and the same random numbers.

    Bisection takes log2(n) runs; ``sweep`` then looks at the shorter lists that it skipped, for a fault that a later
    pass hides. ``shrink`` tries at most ``limit`` smaller graphs. ``script`` writes a folder that reproduces the
    fault, below the private state folder unless ``folder`` names one.

    Raises ``BisectError`` where the check fails before any pass, is good after each, or changes its mind.
    """
    given_numbers.whole("limit", limit, range(1 << 31))
    original = graph_module(module)
    values = _values(original, inputs, kwargs or {})
    tests = Check(check)
    search = Search(original, passes_of(passes), tests, values)
    found = search.find(sweep=sweep)
    return _Report(search, tests, values, found, limit if shrink else 0).bad_pass(folder, script=script)


def _values(module: GraphModule, inputs: Any, kwargs: Mapping[str, Any]) -> Values:
    """The inputs by position: a generated ``forward`` takes all by position."""
    args = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    try:
        bound = inspect.signature(module.forward).bind(*args, **kwargs)
    except TypeError as error:
        if args or kwargs:
            raise UsageError(
                f"The module does not take these inputs: {error}.", "Give what its forward takes."
            ) from error
        return Values((), {})
    return Values(bound.args, bound.kwargs)


class _Report:
    """What is found out about one bad pass, once it is known."""

    def __init__(self, search: Search, check: Check, values: Values, found: Found, limit: int) -> None:
        self._search = search
        self._check = check
        self._values = values
        self._found = found
        self._pass = search.passes[found.index]
        self._limit = limit
        self._outcome = found.outcome
        """How it fails; what fails otherwise is another fault."""
        self._attempts = _ATTEMPTS if found.failures < found.samples else 1
        self._notes: list[str] = []

    def bad_pass(self, folder: str | os.PathLike[str] | None, *, script: bool) -> BadPass:
        """All of it."""
        found, search = self._found, self._search
        before, _ = search.after(found.index)
        after, outcome = self._failing(before)
        self._outcome = outcome
        case, shrunk = self._shrunk(before) if self._limit else (None, None)
        written = self._written(case, folder) if case and script else None
        return BadPass(
            name=self._pass.name,
            index=found.index,
            total=len(search.passes),
            reason=outcome.detail,
            raised=outcome.kind == "pass raised",
            runs=search.runs,
            node=outcome.node,
            calls=len(Case(before, {}).work),
            change=change(before, after, outcome.node) if after else (),
            verdict=outcome.verdict,
            origin=self._pass.origin,
            hidden_by=search.passes[found.hidden_by].name if found.hidden_by is not None else None,
            failures=found.failures,
            samples=found.samples,
            shrunk=shrunk,
            script=written,
            notes=tuple(self._notes),
            module=case.module if case else before,
            inputs=self._values_of(case).args,
        )

    def _written(self, case: Case, folder: str | os.PathLike[str] | None) -> Script | None:
        writer = Writer(folder_for(self._pass.name, folder), case.module, self._values_of(case).args)
        try:
            made = writer.write(self._pass, self._check, unsteady=self._attempts > 1)
        except ExportError as error:
            self._notes.append(f"no script: {error.message}")
            return None
        self._notes += writer.notes
        return made

    def _failing(self, before: GraphModule) -> tuple[GraphModule | None, Outcome]:
        """The module after the pass, from a run in which it failed.

        It is held against the module before the pass, which was good: their nodes still have the same names.
        """
        for reference in (before, self._search.original):
            for _ in range(4 * self._attempts):
                after, outcome = self._transformed(before, self._values, reference, locate=True)
                if not outcome.good:
                    return after, outcome
        return after, self._outcome

    def _transformed(
        self, before: GraphModule, values: Values, reference: GraphModule, *, locate: bool = False
    ) -> tuple[GraphModule | None, Outcome]:
        after = elsewhere(before)
        try:
            with self._check.same_randomness():
                after = self._pass(after)
        except BisectError:
            raise
        except Exception as error:  # noqa: BLE001  (a pass may raise whatever it likes)
            return None, raised("pass raised", error, self._found.index)
        if not locate and self._outcome.kind in {"lint", "pass raised"}:  # no check is needed to see those
            return after, lint(after)
        return after, self._check(reference, after, values, locate=locate)

    def _shrunk(self, before: GraphModule) -> tuple[Case | None, Shrunk | None]:
        first = self._failing_first(before)
        if first is None:
            self._notes.append("not shrunk: the fault needs more than the graph, its parameters and its inputs")
            return None, None
        shrinker = Shrinker(first, self._fails, self._limit)
        case = shrinker.shrink()
        after, outcome = self._failing_case(case, locate=True)
        node = outcome.node
        changed = change(case.module, after, node) if after else ()
        return case, Shrunk(len(case.work), shrinker.tried, plain_code(case.module), changed, node)

    def _failing_first(self, before: GraphModule) -> Case | None:
        """The graph to start from, on which the pass fails; ``None`` where it does on none.

        A pass that failed in all samples may do so by chance all the same, as one that goes through a set.
        """
        first = self._first_case(before)
        if first is None:
            return None
        for attempts in sorted({self._attempts, _ATTEMPTS}):
            self._attempts = attempts
            if self._surely_fails(first):
                return first
            whole = replace(first, module=with_graph(first.module, first.module.graph, rest=before), whole=True)
            if self._surely_fails(whole):
                return whole
        return None

    def _first_case(self, before: GraphModule) -> Case | None:
        """The graph to start from: inputs stay as they are where the check alone knows what to call it with."""
        try:
            plain = plain_case(before, self._values)
            with self._check.same_randomness():
                seen = seen_values(copy.deepcopy(plain.module), plain.values)
        except Exception as error:  # noqa: BLE001  (the user's module runs here)
            if self._check.compares:
                self._notes.append(f"not shrunk: {type(error).__name__}: {error}")
                return None
            seen = {}
        if self._check.compares:
            return Case(plain.module, plain.inputs, seen)
        return Case(with_graph(before, before.graph), {}, seen)

    def _failing_case(self, case: Case, *, locate: bool = False) -> tuple[GraphModule | None, Outcome]:
        """The module after the pass, and how it fails as the search found it; else how it went the last time."""
        for _ in range(self._attempts):
            after, outcome = self._transformed(case.module, self._values_of(case), case.module, locate=locate)
            if outcome.same_as(self._outcome):
                break
        return after, outcome

    def _fails(self, case: Case) -> bool:
        """Whether the pass fails on this graph as it did on the first, and the graph is good without it."""
        if not self._failing_case(case)[1].same_as(self._outcome):
            return False
        return self._check(case.module, copy.deepcopy(case.module), self._values_of(case)).good

    def _surely_fails(self, case: Case) -> bool:
        """Whether the pass fails on this graph, tried several times: everything that follows depends on it."""
        return any(self._fails(case) for _ in range(4 if self._attempts > 1 else 1))

    def _values_of(self, case: Case | None) -> Values:
        return case.values if case and case.inputs else self._values

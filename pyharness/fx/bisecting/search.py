"""Which pass of a list is the first that makes a good module bad."""

from __future__ import annotations

import copy
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch.fx import Graph

from pyharness.fx.bisecting.checks import Check, Outcome, Values, raised
from pyharness.fx.bisecting.passes import AllGoodError, BisectError, Pass
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch.fx import GraphModule

_SAMPLES = 8
"""Runs of a pass that makes another graph each time: enough to see both of its faces."""


@dataclass(frozen=True)
class Found:
    """The first bad pass."""

    index: int
    outcome: Outcome
    hidden_by: int | None = None
    """A later pass after which the module is good again."""
    failures: int = 1
    """Of ``samples`` runs of the passes up to this one, how many were bad."""
    samples: int = 1


class Search:
    """Runs the first passes of a list, each time on a copy of the original, and notes what came of it."""

    def __init__(self, original: GraphModule, passes: Sequence[Pass], check: Check, values: Values) -> None:
        self.original = original
        self.passes = passes
        self._check = check
        self._values = values
        self.known: dict[int, Outcome] = {}
        """By number of passes, what came of them the first time."""
        self.runs = 0
        self._codes: dict[int, str] = {}
        self._varying: set[int] = set()

    @property
    def varying(self) -> int | None:
        """The first pass that was seen to make other code of the same graph."""
        return min(self._varying, default=None)

    def after(self, count: int) -> tuple[GraphModule, Outcome | None]:
        """The module after the first ``count`` passes; what a pass raised, and the module before that pass."""
        module = elsewhere(self.original)
        with self._check.same_randomness():
            for index, each in enumerate(self.passes[:count]):
                before = module
                try:
                    module = each(module)
                except BisectError:
                    raise
                except Exception as error:  # noqa: BLE001  (a pass that raises is what we look for)
                    return before, raised("pass raised", error, index)
                self._note(index, module.code)
        return module, None

    def run(self, count: int) -> Outcome:
        """What the check says after the first ``count`` passes, found out now."""
        self.runs += 1
        module, failed = self.after(count)
        outcome = failed or self._check(self.original, module, self._values)
        self.known.setdefault(count, outcome)
        return outcome

    def _note(self, index: int, code: str) -> None:
        if self._codes.setdefault(index, code) != code and not self._varying & set(range(index)):
            self._varying.add(index)

    def find(self, *, sweep: bool) -> Found:
        """The first bad pass; ``sweep`` also looks at the shorter lists that bisection skips."""
        self._check_original()
        total = len(self.passes)
        outcome = self.run(total)
        if outcome.good:
            return self._hidden_in_good_list(total)
        found = self._bisected(outcome, total)
        if sweep:
            found = self._earlier(found)
        return self._confirmed(found)

    def _check_original(self) -> None:
        outcome = self.run(0)
        if isinstance(outcome.error, HarnessError):
            raise outcome.error
        if not outcome.good:
            raise BisectError(
                f"The check fails before any pass has run: {outcome.detail}.",
                "Give a check that the module passes as it is, and inputs that it takes.",
            )

    def _bisected(self, outcome: Outcome, bad: int) -> Found:
        good = 0
        bad = outcome.at_pass + 1 if outcome.at_pass is not None else bad
        while bad - good > 1:
            middle = (good + bad) // 2
            tried = self.run(middle)
            if tried.good:
                good = middle
            else:
                outcome = tried
                bad = tried.at_pass + 1 if tried.at_pass is not None else middle
        return Found(bad - 1, outcome)

    def _earlier(self, found: Found) -> Found:
        """The same, or an earlier pass whose fault a later one hides."""
        for count in range(1, found.index):
            outcome = self.known.get(count) or self.run(count)
            if not outcome.good:
                index = outcome.at_pass if outcome.at_pass is not None else count - 1
                return Found(index, outcome, self._good_again(count))
        return found

    def _good_again(self, bad: int) -> int | None:
        """Index of the pass after which the module is good again."""
        for count in range(bad + 1, len(self.passes) + 1):
            if (self.known.get(count) or self.run(count)).good:
                return count - 1
        return None

    def _hidden_in_good_list(self, total: int) -> Found:
        """The whole list is good: it may differ from run to run, or a pass may hide what an earlier one broke."""
        again = [self.run(total) for _ in range(2)]
        if found := self._unstable(total - 1):
            return found
        if not all(outcome.good for outcome in again):
            raise _unsteady(total)
        found = self._earlier(Found(total, again[0]))
        if found.index < total:
            return self._confirmed(found)
        raise AllGoodError(
            f"The check is good after all {total} passes, and after each of them.",
            "Where it fails in some processes only, a pass may depend on the hash seed: see pyharness.fx.determinism.",
        )

    def _confirmed(self, found: Found) -> Found:
        """The two runs that decided, once more: a verdict that changes is the pass's doing or the check's."""
        bad = self.run(found.index + 1)
        good = self.run(found.index)
        for _ in range(_SAMPLES // 2):
            self.after(found.index + 1)
        unstable = self._unstable(found.index)
        if unstable:
            return unstable
        if bad.good or not good.good:
            raise _unsteady(found.index + bad.good)
        return found

    def _unstable(self, last: int) -> Found | None:
        """The first pass, up to the ``last``, that makes another graph each time, where some of them are bad."""
        index = self.varying
        if index is None or index > last:
            return None
        outcomes = [self.run(index + 1) for _ in range(_SAMPLES)]
        bad = [outcome for outcome in outcomes if not outcome.good]
        return Found(index, bad[0], failures=len(bad), samples=_SAMPLES) if bad else None


def elsewhere(module: GraphModule) -> GraphModule:
    """A deep copy whose nodes lie in no order in memory.

    A set of nodes is walked in the order of their addresses, which would be much the same in every copy: so a pass
    that depends on it shows itself.
    """
    graph = Graph()
    holes = [graph.placeholder("hole") for _ in range(2 * len(module.graph.nodes))]
    del graph
    random.Random().shuffle(holes)  # noqa: S311  (no secret)
    del holes[len(holes) // 2 :]
    return copy.deepcopy(module)


def _unsteady(count: int) -> BisectError:
    after = f"after {count} pass{'es' if count > 1 else ''}" if count else "before any pass"
    return BisectError(
        f"The check is not deterministic: the same module {after} was good once and bad once.",
        "Fix its seeds and inputs, or compare with a tolerance; a search needs the same answer each time.",
    )

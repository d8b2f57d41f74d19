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
    from collections.abc import Iterable, Sequence

    from torch.fx import GraphModule

_SAMPLES = 8
"""Runs and checks of a pass that makes another graph each time."""
_TRIALS = 12
"""Runs of one pass alone to see whether it does: one of two orders is missed once in 2,000 times."""


@dataclass(frozen=True)
class Found:
    """The first bad pass."""

    index: int
    outcome: Outcome
    hidden_by: int | None = None
    """A later pass after which the module is good again."""
    failures: int = 1
    """How many of ``samples`` runs of the passes up to this one were bad."""
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
        self._codes: dict[int, set[str]] = {}

    def after(self, count: int, *, shuffled: bool = False) -> tuple[GraphModule, Outcome | None]:
        """The module after the first ``count`` passes; what a pass raised, and the module before that pass.

        ``shuffled``: the last of them gets its nodes in no order in memory.
        """
        module = copy.deepcopy(self.original)
        with self._check.same_randomness():
            for index, each in enumerate(self.passes[:count]):
                before = elsewhere(module) if shuffled and index == count - 1 else module
                try:
                    module = each(before)
                except BisectError:
                    raise
                except Exception as error:  # noqa: BLE001  (a pass that raises is what we look for)
                    return before, raised("pass raised", error, index)
                self._codes.setdefault(index, set()).add(module.code)
        return module, None

    def run(self, count: int, *, shuffled: bool = False) -> Outcome:
        """What the check says after the first ``count`` passes, found out now."""
        self.runs += 1
        module, failed = self.after(count, shuffled=shuffled)
        outcome = failed or self._check(self.original, module, self._values)
        self.known.setdefault(count, outcome)
        return outcome

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
        """The fault that was found, or that of an earlier pass, which a later one hides."""
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
        if found := self._varying(range(total)):
            return found
        if not all(outcome.good for outcome in again):
            if found := self._varying(range(total)):  # by chance all samples may have been alike: here one was not
                return found
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
        bad, good = self.run(found.index + 1), self.run(found.index)
        changed = bad.good or not good.good
        suspected = changed or any(len(self._codes.get(index, ())) > 1 for index in range(found.index + 1))
        varying = self._varying(range(found.index + 1) if suspected else [found.index])
        if changed and varying is None:
            varying = self._varying(range(found.index + 1))
        if changed and varying is None:
            raise _unsteady(found.index + bad.good)
        return varying or found

    def _varying(self, indices: Iterable[int]) -> Found | None:
        """The first of these passes that makes another graph each time, where some of them are bad."""
        for index in filter(self._varies, indices):
            outcomes = [self.run(index + 1, shuffled=True) for _ in range(_SAMPLES)]
            bad = [outcome for outcome in outcomes if not outcome.good]
            if bad:
                return Found(index, bad[0], failures=len(bad), samples=_SAMPLES)
        return None

    def _varies(self, index: int) -> bool:
        """Whether a pass makes other code of the same graph when its nodes lie elsewhere in memory."""
        before, failed = self.after(index)
        codes: set[str] = set()
        for _ in range(0 if failed else _TRIALS):
            try:
                with self._check.same_randomness():
                    codes.add(self.passes[index](elsewhere(before)).code)
            except Exception as error:  # noqa: BLE001  (as above)
                codes.add(repr(error))
            if len(codes) > 1:
                return True
        return False


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

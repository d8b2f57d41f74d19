"""Delta debugging of a graph: the smallest one found on which a pass still fails as it did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.fx.bisecting import reductions
from pyharness.fx.bisecting.cases import held

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pyharness.fx.bisecting.cases import Case


class Shrinker:
    """Tries smaller cases, keeps each that ``fails`` as the first did, and counts what it tried."""

    def __init__(self, case: Case, fails: Callable[[Case], bool], limit: int) -> None:
        self.case = case
        self._fails = fails
        self._left = limit
        self.tried = 0

    def shrink(self) -> Case:
        """Cut the end off, then the beginning, then ever smaller parts, until nothing more can go."""
        self._cut_end()
        self._single_output()
        self._cut_beginning()
        before = None
        while before != self.case.size and self._left > 0:
            before = self.case.size
            self._feed_parts()
            self._bypass()
            self._drop_effects()
            self._single_output()
        self._narrow()
        self._drop_attributes()
        return self.case

    def _keep(self, candidate: Case) -> bool:
        """Go on with ``candidate`` if it is smaller and still fails."""
        if self._left <= 0 or candidate.size >= self.case.size:
            return False
        self._left -= 1
        self.tried += 1
        if not self._fails(candidate):
            return False
        self.case = candidate
        return True

    def _cut_end(self) -> None:
        """By bisection: the shortest beginning that fails, if longer ones do too."""
        names = [node.name for node in self.case.work]
        good = 0
        while len(names) - good > 1:
            middle = (good + len(names)) // 2
            if self._keep(reductions.end_after(self.case, names[middle - 1])):
                left = {node.name for node in self.case.work}  # what nothing uses is gone
                good = sum(name in left for name in names[:good])
                names = [name for name in names[:middle] if name in left]
            else:
                good = middle

    def _cut_beginning(self) -> None:
        """By bisection: the longest beginning that values can stand for."""
        names = [node.name for node in self.case.work]
        fed, computed = 0, len(names)
        while computed - fed > 1:
            middle = (fed + computed) // 2
            if self._keep(reductions.feed(self.case, set(names[:middle]))):
                fed = middle
            else:
                computed = middle

    def _single_output(self) -> None:
        [output] = [node for node in self.case.module.graph.nodes if node.op == "output"]
        names = [node.name for node in output.all_input_nodes]
        if not isinstance(output.args[0], type(output)):
            self._first(reductions.only_output(self.case, [name]) for name in names)

    def _feed_parts(self) -> None:
        size = max(1, len(self.case.work) // 2)
        while size:
            names = [node.name for node in self.case.work]
            for start in range(0, len(names), size):
                self._keep(reductions.feed(self.case, set(names[start : start + size])))
            size //= 2

    def _bypass(self) -> None:
        for name in [node.name for node in self.case.work]:
            if any(node.name == name for node in self.case.work):
                self._first(reductions.bypass(self.case, name))

    def _drop_effects(self) -> None:
        for name in [node.name for node in self.case.work if not node.users]:
            if any(node.name == name for node in self.case.work):
                self._keep(reductions.without(self.case, name))

    def _narrow(self) -> None:
        while self._first(reductions.narrower(self.case)):
            pass

    def _drop_attributes(self) -> None:
        used = {str(node.target).partition(".")[0] for node in self.case.module.graph.nodes}
        for name in held(self.case.module):
            if name not in used:
                self._keep(reductions.without_attribute(self.case, name))

    def _first(self, candidates: Iterable[Case]) -> bool:
        return any(self._keep(candidate) for candidate in candidates)

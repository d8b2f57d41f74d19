"""Compares what a node did with what its counterpart did: its result, buffers, and values it changed in place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyharness.fx.verifying.calls import described, flat
from pyharness.fx.verifying.differences import agree, differences
from pyharness.fx.verifying.values import Leaf
from pyharness.model.results.verdict import Difference

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from torch.fx import Node

    from pyharness.fx.verifying.differences import Tolerance
    from pyharness.fx.verifying.execution import Execution, Step


@dataclass(frozen=True)
class Steps:
    """A node and its counterpart, each as it ran."""

    original: Execution
    transformed: Execution
    expected: Step
    actual: Step
    of: Mapping[Node, Node]

    def errs(self, tolerance: Tolerance) -> bool:
        """Whether the node did something else."""
        if self.actual.error is not None or self.actual.poisoned or self._unlike() is not None:
            return True
        return not all(agree(*pair, tolerance) for pair in self._pairs())

    def difference(self, tolerance: Tolerance) -> Difference | None:
        """The first thing that differs, measured; ``None`` where all is near enough."""
        if self.actual.error is not None:
            return Difference("", "error", f"it raises {described(self.actual.error)}")
        if self.actual.poisoned:
            return Difference("", "error", "an input has no value: the node that makes it fails")
        found = (difference for pair in self._pairs() for difference in differences(*pair, tolerance))
        return next(found, None) or self._unlike()

    def written(self) -> Iterator[tuple[Node, Node]]:
        """Values that both changed in place, with their counterparts."""
        for node in self.actual.writes:
            other = self.of.get(node)
            if other is not None and other in self.expected.writes:
                yield node, other

    def _pairs(self) -> Iterator[tuple[Sequence[Leaf], Sequence[Leaf]]]:
        expected, actual = self.expected.result, self.actual.result
        if self.actual.node.op == "output" and [leaf.path for leaf in expected] != [leaf.path for leaf in actual]:
            expected, actual = flat(expected), flat(actual)
        yield expected, actual
        if self._both_call():
            for name in self.expected.state.keys() & self.actual.state.keys():
                yield [Leaf(name, self.expected.state[name])], [Leaf(name, self.actual.state[name])]
        for node, other in self.written():
            yield (
                self.original.written(other, self.expected.node),
                self.transformed.written(node, self.actual.node),
            )

    def _unlike(self) -> Difference | None:
        """A buffer that one called module changes and the other does not."""
        if not self._both_call():
            return None
        for name in sorted(self.expected.state.keys() ^ self.actual.state.keys()):
            how = "" if name in self.actual.state else "not "
            return Difference(name, "state", f"{name} is {how}changed by the call")
        return None

    def _both_call(self) -> bool:
        return self.actual.node.op == self.expected.node.op == "call_module"

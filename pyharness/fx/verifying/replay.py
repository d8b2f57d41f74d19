"""Runs a transformed graph once more and, wherever a node errs, goes on with the original's value.

So a fault does not hide those after it, and each node is judged on inputs that are right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from pyharness.fx.verifying.comparing import Steps
from pyharness.fx.verifying.differences import agree, differences
from pyharness.fx.verifying.execution import POISON, Execution, Version, rebuilt
from pyharness.fx.verifying.values import snapshot, tensors
from pyharness.model.results.verdict import Difference

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from torch.fx import GraphModule, Node

    from pyharness.fx.verifying.alignment import Alignment
    from pyharness.fx.verifying.differences import Tolerance
    from pyharness.fx.verifying.execution import Step


@dataclass
class Root:
    """A node that errs although its inputs are right."""

    node: Node
    counterpart: Node
    """The original's, whose value it should have."""
    through: tuple[Node, ...] = ()
    """Nodes without counterpart between it and inputs that are known to be right."""
    changed: Node | None = None
    """The value that was changed in place between, or should have been."""
    writer: Node | None = None
    """The original's node that changes that value in place."""
    users: list[Node] = field(default_factory=list)
    """Nodes that took the changed value."""


class TooCostlyError(Exception):
    """More would have to be explained than by an alignment that was tried before."""


class Replay(Execution):
    """``roots`` are found while it runs; ``TooCostlyError`` once their cost is over ``limit``.

    ``tolerance`` tells what errs, and ``shown`` which elements are said to differ.
    """

    def __init__(
        self,
        module: GraphModule,
        inputs: Mapping[Node, Any],
        alignment: Alignment,
        tolerance: Tolerance,
        shown: Tolerance,
        limit: float = math.inf,
    ) -> None:
        super().__init__(module, inputs)
        self.alignment = alignment
        self.original = alignment.original
        self.roots: list[Root] = []
        self._tolerance = tolerance
        self._shown = shown
        self._limit = limit

    def run(self) -> None:
        """Run as ``Execution.run`` does; then look at what else the caller sees: inputs, parameters, buffers."""
        super().run()
        output = next(node for node in reversed(self.nodes) if node.op == "output")
        for node in self.nodes:
            if node.op in {"placeholder", "get_attr"}:
                self._left_behind(node, output)

    @property
    def cost(self) -> int:
        """How much this alignment leaves to be explained: faults, and values that nobody can judge."""
        return sum(1 + len(root.through) for root in self.roots)

    def numbers(self, node: Node) -> None:
        """Let a random node draw the numbers that its counterpart drew."""
        other = self.alignment.of.get(node)
        state = self.original.steps[other].random if other else None
        if state is not None:
            state.restore()

    def judged(self, step: Step, value: Any) -> Any:
        """Note whether the node errs; the right value where it does."""
        other = self.alignment.expected(step.node)
        if other is None:
            return value
        steps = self._steps(step, other)
        if not steps.errs(self._tolerance):
            return value
        self._note(step, steps.expected)
        self._mend(steps)
        expected = steps.expected.result
        if value is not POISON and agree(expected, snapshot(value), self._tolerance):
            return value
        return rebuilt(self.original.values[other], expected)

    def measured(self, root: Root) -> Difference:
        """How far off the node is; of a value changed in place, the first node that takes it, or the value itself."""
        place = root.users[0] if root.users else root.node
        other = self.alignment.expected(place)
        if other is not None:
            steps = self._steps(self.steps[place], other)
            found = steps.difference(self._shown) or steps.difference(self._tolerance)
            if found:
                return found
        return next(self._left(root.changed, self._tolerance), Difference("", "value", "it differs"))

    def _steps(self, step: Step, other: Node) -> Steps:
        return Steps(self.original, self, self.original.steps[other], step, self.alignment.of)

    def _note(self, step: Step, expected: Step) -> None:
        through = self._through(step)
        blamed = self._blamed(step, expected, through)
        if blamed is None:
            self._found(Root(step.node, expected.node, tuple(through)))
        else:
            self._add(blamed, step.node)

    def _through(self, step: Step) -> list[Node]:
        """Nodes above without counterpart, in order of execution."""
        found: dict[Node, None] = {}
        waiting = [*step.uses]
        while waiting:
            node = waiting.pop()
            if node in found or self.alignment.expected(node) is not None or node.op in {"placeholder", "get_attr"}:
                continue
            found[node] = None
            waiting += self.steps[node].uses
        return [node for node in self.steps if node in found]

    def _blamed(self, step: Step, expected: Step, through: list[Node]) -> Root | None:
        """A value that is not what it was when its node made it, unlike in the original: whoever changed it."""
        for user in (*(self.steps[node] for node in through), step):
            for node in user.uses:
                root = self._changed(user, node, expected)
                if root is not None:
                    return root
        return None

    def _changed(self, user: Step, node: Node, expected: Step) -> Root | None:
        """The fault, where ``node`` was changed in place before ``user`` took it, or was not and should have been."""
        other = self.alignment.of.get(node)
        if other is None:
            return None
        taken = self.version_used(user, node)
        versions = self.original.versions[other]
        wanted = versions[expected.uses[other]] if other in expected.uses else versions[0]
        if agree(wanted.leaves, taken.leaves, self._tolerance):
            return None
        mine, theirs = taken.writer, wanted.writer
        if mine is not node and mine is not None and self.alignment.of.get(mine) is not theirs:
            return Root(mine, self.alignment.expected(mine) or other, changed=node)
        if mine is node and theirs is not other and theirs is not None:
            return Root(self.alignment.back.get(theirs, user.node), theirs, changed=node, writer=theirs)
        return None

    def _left_behind(self, node: Node, output: Node) -> None:
        """What the run leaves in the memory of an input or a parameter."""
        if next(self._left(node, self._tolerance), None) is None:
            return
        other = self.alignment.of[node]
        mine, theirs = self.versions[node][-1].writer, self.original.versions[other][-1].writer
        if mine is not node and mine is not None:
            self._add(Root(mine, self.alignment.expected(mine) or other, changed=node), output)
        else:
            blamed = self.alignment.back.get(theirs or other, output)
            self._add(Root(blamed, theirs or other, changed=node, writer=theirs), output)

    def _left(self, node: Node | None, tolerance: Tolerance) -> Iterator[Difference]:
        """How the memory of ``node`` differs in the end."""
        other = self.alignment.of.get(node) if node is not None else None
        if node is not None and other is not None and self.values[node] is not POISON:
            yield from differences(self.original.versions[other][-1].leaves, self.versions[node][-1].leaves, tolerance)

    def _add(self, root: Root, user: Node) -> None:
        """Note a fault that shows at ``user``; one that is known has another user."""
        known = next((each for each in self.roots if each.changed is not None and each.node is root.node), None)
        if known is None:
            self._found(root)
        (known or root).users.append(user)

    def _found(self, root: Root) -> None:
        self.roots.append(root)
        if self.cost > self._limit:
            raise TooCostlyError

    def _mend(self, steps: Steps) -> None:
        """Where both change the same value in place, give it the content that it has in the original."""
        for node, other in steps.written():
            right = [leaf.value for leaf in self.original.written(other, steps.expected.node)]
            wanted = [each for each in right if isinstance(each, torch.Tensor)]
            for tensor, content in zip(tensors(self.values[node]), wanted):  # noqa: B905  (nesting may differ, too)
                if tensor.shape == content.shape:
                    tensor.data.copy_(content)
            self.versions[node][-1] = Version(steps.actual.node, snapshot(self.values[node]))

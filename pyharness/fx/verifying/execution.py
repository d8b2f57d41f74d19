"""Runs a graph node by node: what each node took, gave and changed in memory."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch.fx.node import map_arg

from pyharness.fx.verifying.differences import is_same
from pyharness.fx.verifying.keeping import RandomState
from pyharness.fx.verifying.values import Leaf, changes_of, mapped, snapshot, storage_of, tensors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torch.fx import GraphModule, Node


class _Poison:
    """Stands for the value of a node that failed."""


POISON = _Poison()


@dataclass(frozen=True)
class Version:
    """A value as it was from the time when ``writer`` had run."""

    writer: Node | None
    """The node that made it, or changed it in place; ``None`` where that was not seen."""
    leaves: tuple[Leaf, ...]


@dataclass
class Step:
    """One node, as it ran."""

    node: Node
    uses: dict[Node, int] = field(default_factory=dict)
    """The version that each of its inputs was at."""
    result: tuple[Leaf, ...] = ()
    state: dict[str, torch.Tensor] = field(default_factory=dict)
    """Buffers and parameters of the called module that it changed, by name in that module."""
    writes: tuple[Node, ...] = ()
    """Values that it changed in place."""
    random: RandomState | None = None
    """The state before it drew random numbers; ``None`` where it drew none."""
    error: Exception | None = None
    poisoned: bool = False
    """Whether the node could not run, because an input's node had failed."""


class Held:
    """Parameters and buffers of a module, or of none, before it is called."""

    def __init__(self, module: torch.nn.Module | None) -> None:
        self._buffers = dict(module.named_buffers()) if module is not None else {}
        self._parameters = dict(module.named_parameters()) if module is not None else {}
        self._before = {name: tensor.detach().clone() for name, tensor in self._buffers.items()}
        self._versions = {name: changes_of(tensor) for name, tensor in self._parameters.items()}

    @property
    def tensors(self) -> list[torch.Tensor]:
        """All of them."""
        return [*self._parameters.values(), *self._buffers.values()]

    def changed(self) -> dict[str, torch.Tensor]:
        """Copies of those that are not what they were; of parameters, which can be large, torch's count is asked."""
        buffers = {name: each for name, each in self._buffers.items() if not is_same(self._before[name], each)}
        written = {n: each for n, each in self._parameters.items() if changes_of(each) != self._versions[n]}
        return {name: each.detach().clone() for name, each in {**buffers, **written}.items()}


class Execution:
    """A graph that runs, or has run. All values are kept, so memory that one node frees is not taken by another."""

    def __init__(self, module: GraphModule, inputs: Mapping[Node, Any]) -> None:
        self.module = module
        self.nodes: list[Node] = list(module.graph.nodes)
        self.values: dict[Node, Any] = {}
        self.versions: dict[Node, list[Version]] = {}
        self.steps: dict[Node, Step] = {}
        self.left: tuple[Leaf, ...] = ()
        """Buffers as the run left them, by name."""
        self._inputs = inputs
        self._places: dict[int, list[Node]] = {}

    def run(self) -> None:
        """Run every node, to the end even where one fails: what needs its value is then skipped."""
        for node in self.nodes:
            self._look(node.all_input_nodes, None)
            step = Step(node, {each: len(self.versions[each]) - 1 for each in node.all_input_nodes})
            self.steps[node] = step
            self.numbers(node)
            value = self._ran(step)
            taken = self.judged(step, value)
            self._keep(node, taken, step.result if taken is value and not step.writes else None)
        self.left = snapshot(dict(self.module.named_buffers()))

    def numbers(self, node: Node) -> None:
        """Set the random numbers that ``node`` is to draw, if they are to be others than those that come next."""

    def judged(self, step: Step, value: Any) -> Any:
        """The value that the node is taken to have given; ``step`` is complete."""
        del step
        return value

    def version_used(self, step: Step, node: Node) -> Version:
        """What ``step`` took from ``node``."""
        return self.versions[node][step.uses[node]]

    def written(self, node: Node, writer: Node) -> tuple[Leaf, ...]:
        """The value of ``node`` as ``writer`` left it."""
        return next(each.leaves for each in reversed(self.versions[node]) if each.writer is writer)

    def held(self, node: Node) -> torch.nn.Module | None:
        """The module that a ``call_module`` node calls."""
        if node.op != "call_module":
            return None
        try:
            return self.module.get_submodule(str(node.target))
        except AttributeError:
            return None

    def _ran(self, step: Step) -> Any:
        node = step.node
        if any(self.values[each] is POISON for each in step.uses):
            step.poisoned = True
            return POISON
        held = Held(self.held(node))
        numbers = RandomState()
        value: Any = POISON
        try:
            value = self._called(node)
            step.result = snapshot(value)
        except Exception as error:  # noqa: BLE001  (the user's code)
            step.error = error
        step.random = numbers if numbers.differs() else None
        step.state = held.changed()
        self._notice(step, held.tensors)
        return value

    def _called(self, node: Node) -> Any:
        if node.op == "placeholder":
            return self._inputs[node]
        args, kwargs = map_arg((node.args, node.kwargs), self.values.__getitem__)
        if node.op == "output":
            return args[0]
        if node.op == "get_attr":
            return operator.attrgetter(str(node.target))(self.module)
        if node.op == "call_method":
            receiver, *rest = args
            return getattr(receiver, str(node.target))(*rest, **kwargs)
        target: Any = self.module.get_submodule(str(node.target)) if node.op == "call_module" else node.target
        return target(*args, **kwargs)

    def _notice(self, step: Step, touched: Sequence[torch.Tensor]) -> None:
        """Find out which values the node changed: of those that share memory with what it was given."""
        given = [*touched, *(each for node in step.uses for each in tensors(self.values[node]))]
        places = dict.fromkeys(storage_of(each) for each in given)
        near = dict.fromkeys(node for place in places if place is not None for node in self._places.get(place, ()))
        step.writes = self._look([*dict.fromkeys((*near, *step.uses))], step.node)

    def _look(self, nodes: Sequence[Node], writer: Node | None) -> tuple[Node, ...]:
        """Compare values with what they were last, and note those that changed as versions by ``writer``."""
        changed = tuple(node for node in nodes if self.values[node] is not POISON and self._is_changed(node))
        for node in changed:
            self.versions[node].append(Version(writer, snapshot(self.values[node])))
        return changed

    def _is_changed(self, node: Node) -> bool:
        known = self.versions[node][-1].leaves
        now = tensors(self.values[node])
        before = [leaf.value for leaf in known if isinstance(leaf.value, torch.Tensor)]
        return len(now) != len(before) or not all(map(is_same, before, (each.detach() for each in now)))

    def _keep(self, node: Node, value: Any, copy: tuple[Leaf, ...] | None) -> None:
        """Note the value; ``copy`` is one that was made already."""
        self.values[node] = value
        if copy is None:
            copy = () if value is POISON else snapshot(value)
        self.versions[node] = [Version(node, copy)]
        for place in dict.fromkeys(storage_of(each) for each in tensors(value)):
            if place is not None:
                self._places.setdefault(place, []).append(node)


def rebuilt(like: Any, found: Sequence[Leaf]) -> Any:
    """A value nested as ``like`` with copies of the leaves ``found``."""
    rest = iter(found)

    def following(_: Any) -> Any:
        value = next(rest).value
        return value.clone() if isinstance(value, torch.Tensor) else value

    return mapped(like, following)

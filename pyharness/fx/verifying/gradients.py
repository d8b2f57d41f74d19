"""Whether gradients through a transformed graph are those through the original, and whose backward differs first."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch

from pyharness.fx.verifying.calls import described, tensors_of
from pyharness.fx.verifying.differences import agree, differences
from pyharness.fx.verifying.execution import POISON, Execution
from pyharness.fx.verifying.faults import placed
from pyharness.fx.verifying.locating import Pair, Search
from pyharness.fx.verifying.values import Leaf, copied, leaves, mapped, tensors
from pyharness.model.errors import UsageError
from pyharness.model.results.verdict import Difference, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from torch.fx import Node

    from pyharness.fx.verifying.alignment import Alignment
    from pyharness.fx.verifying.differences import Tolerance
    from pyharness.fx.verifying.keeping import Kept
    from pyharness.model.results.verdict import Fault

PREFIX = "gradient of "
"""Before what a gradient is to."""


@dataclass(frozen=True)
class Given:
    """What one call gave back for the weights that its outputs have."""

    gradients: Mapping[str, torch.Tensor]
    """Gradients of inputs by path, of parameters by name; zeros where none came."""
    error: Exception | None = None


def gradients_compared(pair: Pair, tolerance: Tolerance, state: Kept, *, seed: int, locate: bool) -> Verdict:
    """Whether both give the same gradients to inputs and common parameters, for random weights of the outputs.

    Raises ``UsageError`` where the original has no gradients.
    """
    with _recording():
        expected = given_by(pair.original, pair, state, seed)
        if expected.error is not None:
            name = getattr(pair.original, "__name__", type(pair.original).__name__)
            raise UsageError(
                f"The original, {name}, gives no gradients: {described(expected.error)}",
                "Leave gradients=True out, or give inputs and parameters of floating point.",
            )
        actual = given_by(pair.transformed, pair, state, seed)
        found = tuple(_compared(expected, actual, tolerance))
        if not found:
            return Verdict(ok=True, notes=_left_out(expected, actual))
        first = _located(pair, found, tolerance, state, seed) if locate else None
        return Verdict(ok=False, first=first, gradients=found, notes=_left_out(expected, actual))


@contextmanager
def _recording() -> Iterator[None]:
    with ExitStack() as stack:
        stack.enter_context(torch.inference_mode(mode=False))
        stack.enter_context(torch.enable_grad())
        yield


def given_by(
    function: Callable[..., Any], pair: Pair, state: Kept, seed: int, owner: Callable[..., Any] | None = None
) -> Given:
    """Call ``function`` and have weights from ``seed`` go backward; the parameters are those of ``owner``, if named."""
    state.begin()
    parameters = {
        name: each for name, each in tensors_of(function if owner is None else owner).items() if each.requires_grad
    }
    given = _asking((pair.args, dict(pair.kwargs)))
    by_name = {
        f"inputs{leaf.path[3:]}": leaf.value for leaf in leaves(given) if _requires_grad(leaf.value)
    } | parameters
    try:
        args, kwargs = _not_leaves(given)
        result = function(*args, **kwargs)
        found = _backward(result, list(by_name.values()), seed)
    except Exception as error:  # noqa: BLE001  (the user's code)
        return Given({}, error)
    return Given(dict(zip(by_name, found, strict=True)))


def _asking(value: Any) -> Any:
    """Copies that require grad, where they can."""
    return mapped(copied(value), lambda leaf: leaf.requires_grad_() if _is_differentiable(leaf) else leaf)


def _not_leaves(value: Any) -> Any:
    """Copies of leaves that require grad, so that a graph may change them in place."""
    return mapped(value, lambda leaf: leaf.clone() if _requires_grad(leaf) else leaf)


def _backward(result: Any, by: list[torch.Tensor], seed: int) -> list[torch.Tensor]:
    """The gradients of the same random mixture of all that ``result`` holds."""
    numbers = torch.Generator().manual_seed(seed)
    outputs, weights = [], []
    for each in filter(_is_differentiable, tensors(result)):
        weight = torch.randn(each.shape, generator=numbers, dtype=torch.float64)  # also where none is wanted
        if each.requires_grad:
            outputs.append(each)
            weights.append(weight.to(each.device, each.dtype))
    if not outputs:
        raise RuntimeError("nothing of its result requires grad")
    found = torch.autograd.grad(outputs, by, weights, allow_unused=True)
    return [torch.zeros_like(of) if each is None else each for each, of in zip(found, by, strict=True)]


def _is_differentiable(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex())


def _requires_grad(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


def _compared(expected: Given, actual: Given, tolerance: Tolerance) -> Iterator[Difference]:
    if actual.error is not None:
        yield Difference("", "error", f"its backward raises {described(actual.error)}")
        return
    for name in _common(expected, actual):
        for each in _between(expected.gradients[name], actual.gradients[name], tolerance):
            yield replace(each, path=f"{PREFIX}{name}")


def _common(expected: Given, actual: Given) -> list[str]:
    return [name for name in expected.gradients if name in actual.gradients]


def _between(one: torch.Tensor, other: torch.Tensor, tolerance: Tolerance) -> Iterator[Difference]:
    return differences((Leaf("", one.detach()),), (Leaf("", other.detach()),), tolerance)


def _left_out(expected: Given, actual: Given) -> tuple[str, ...]:
    rest = sorted(expected.gradients.keys() ^ actual.gradients.keys()) if actual.error is None else []
    return (f"gradients not compared, only one of both has them: {', '.join(rest)}",) if rest else ()


class _Flow(Execution):
    """A graph that runs with its values on autograd's graph; then the gradient of each is asked for."""

    seed = 0

    def _called(self, node: Node) -> Any:
        value = super()._called(node)
        return _not_leaves(value) if node.op == "placeholder" else value

    def of_nodes(self) -> dict[Node, tuple[Leaf, ...]]:
        """Gradients of every node's tensors; none of what requires none."""
        asked = [(node, leaf) for node, leaf in self._leaves() if _requires_grad(leaf.value)]
        found = _backward(self.values[self.nodes[-1]], [leaf.value for _, leaf in asked], self.seed)
        gradients: dict[Node, tuple[Leaf, ...]] = dict.fromkeys(self.nodes, ())
        for (node, leaf), gradient in zip(asked, found, strict=True):
            gradients[node] += (Leaf(leaf.path, gradient),)
        return gradients

    def _leaves(self) -> Iterator[tuple[Node, Leaf]]:
        for node, value in self.values.items():
            if node.op != "output" and value is not POISON:
                yield from ((node, leaf) for leaf in leaves(value))


def _located(pair: Pair, found: tuple[Difference, ...], tolerance: Tolerance, state: Kept, seed: int) -> Fault | None:
    """The node whose backward is the first to differ, seen from the result; ``None`` where no graph tells."""
    args, kwargs = _asking((pair.args, dict(pair.kwargs)))
    try:
        search = Search(replace(pair, args=args, kwargs=kwargs), tolerance, state)
        alignment = search.best().alignment
        flows = [search.ran(module, _Flow) for module in (search.expected.module, search.transformed)]
        for each in flows:
            each.seed = seed
        expected, actual = (each.of_nodes() for each in flows)
    except Exception:  # noqa: BLE001  (the user's code; torch.fx and autograd raise what they like)
        return None
    for node in reversed(flows[1].nodes):
        other = alignment.of.get(node)
        if other is not None and node.op != "output" and not agree(expected[other], actual[node], tolerance):
            blamed = _blamed(node, alignment) if actual[node] or not expected[other] else node
            reason = f"the gradient that its backward gives {node.name} is another one"
            if blamed is node:
                reason = "no gradient goes through it: its result does not require grad"
            difference = next(differences(expected[other], actual[node], tolerance))
            counterpart = alignment.of.get(blamed)
            return placed(
                search.transformed,
                blamed,
                kind="gradient",
                reason=reason,
                difference=replace(difference, path=f"{PREFIX}{node.name}{difference.path}"),
                counterpart=counterpart.name if counterpart is not None else None,
            )
    return _holder(search, found, alignment)


def _blamed(node: Node, alignment: Alignment) -> Node:
    """The node to blame: among those that took the value, the one that the original does not have so."""
    users = [each for each in node.users if each.op != "output"] or list(node.users)
    others = (alignment.of.get(each) for each in users)
    odd = (each for each, other in zip(users, others, strict=True) if other is None or other.target != each.target)
    return next(odd, users[-1] if users else node)


def _holder(search: Search, found: tuple[Difference, ...], alignment: Alignment) -> Fault | None:
    """The module whose parameter has another gradient although the values around it have the same."""
    names = [each.path.removeprefix(PREFIX) for each in found]
    for node in search.transformed.graph.nodes:
        if node.op == "call_module" and any(name.startswith(f"{node.target}.") for name in names):
            difference = next(each for each in found if each.path.startswith(f"{PREFIX}{node.target}."))
            other = alignment.of.get(node)
            return placed(
                search.transformed,
                node,
                kind="gradient",
                reason="the gradient that its backward gives a parameter is another one",
                difference=difference,
                counterpart=other.name if other is not None else None,
            )
    return None

"""Runs a whole model eagerly and compiled, and says what differs by more than rounding alone makes of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from pyharness.fx.verifying.calls import compared, outcome, tensors_of
from pyharness.fx.verifying.differences import differences, measured
from pyharness.fx.verifying.gradients import PREFIX, Given, given_by
from pyharness.fx.verifying.kernels.judging import Expected
from pyharness.fx.verifying.locating import Pair
from pyharness.fx.verifying.values import Leaf, storage_of, tensors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pyharness.fx.verifying.calls import Outcome
    from pyharness.fx.verifying.differences import Tolerance
    from pyharness.fx.verifying.keeping import Kept
    from pyharness.model.results.verdict import Difference

_SAMPLES = 3
_TIMES = 16
"""How much farther off than rounding at random: a whole model's adds up, and one of very many numbers is far off."""


@dataclass(frozen=True)
class Whole:
    """A model, and how it is called."""

    model: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    gradients: bool
    seed: int


@dataclass(frozen=True)
class Ran:
    """What came of one run."""

    outcome: Outcome
    given: Given | None = None

    @property
    def error(self) -> Exception | None:
        """Why it failed; ``None`` where it did not."""
        return self.outcome.error or (self.given.error if self.given else None)

    def leaves(self) -> dict[str, Any]:
        """All that came of it, by what it is called in a difference."""
        found = {leaf.path: leaf.value for leaf in self.outcome.result}
        found.update({f"inputs{leaf.path}": leaf.value for leaf in self.outcome.inputs})
        found.update(self.outcome.state)
        if self.given is not None:
            found.update({f"{PREFIX}{name}": value for name, value in self.given.gradients.items()})
        return found


def ran(whole: Whole, state: Kept, function: Callable[..., Any] | None = None) -> Ran:
    """The model, or ``function`` in its place, on copies of the inputs."""
    pair = Pair(whole.model, whole.model, whole.args, dict(whole.kwargs))
    called, given = whole.model if function is None else function, None
    state.begin()
    with torch.compiler.set_stance("force_eager" if function is None else "default"):
        found = outcome(called, whole.args, whole.kwargs, tensors_of(whole.model))
        if found.error is None and whole.gradients:
            with torch.enable_grad():
                given = given_by(called, pair, state, whole.seed, whole.model)
    return Ran(found, given)


def beyond_rounding(
    whole: Whole, state: Kept, eager: Ran, compiled: Ran, tolerance: Tolerance
) -> tuple[tuple[Difference, ...], tuple[Difference, ...]]:
    """What differs in the results, and in the gradients, by more than eager mode's own rounding could make it."""
    outputs = tuple(compared(eager.outcome, compiled.outcome, tolerance))
    gradients: tuple[Difference, ...] = ()
    if eager.given is not None and compiled.given is not None:
        gradients = tuple(_of_gradients(eager.given, compiled.given, tolerance))
    if not any(each.sizes for each in (*outputs, *gradients)):
        return outputs, gradients
    samples = [_rounded(whole, state, seed) for seed in range(_SAMPLES)]
    runs = [each.leaves() for each in (eager, compiled, *samples)]
    return (
        tuple(each for difference in outputs if (each := _beyond(difference, runs, tolerance))),
        tuple(each for difference in gradients if (each := _beyond(difference, runs, tolerance))),
    )


def _of_gradients(eager: Given, compiled: Given, tolerance: Tolerance) -> Iterator[Difference]:
    for name, value in eager.gradients.items():
        other = compiled.gradients.get(name)
        for each in differences((Leaf("", value.detach()),), (Leaf("", other),), tolerance):
            yield replace(each, path=f"{PREFIX}{name}")


def _beyond(difference: Difference, runs: list[dict[str, Any]], tolerance: Tolerance) -> Difference | None:
    """The difference without what rounding explains; ``None`` where that is all."""
    found: list[Any] = [run.get(difference.path) for run in runs]
    eager, compiled, *samples = found
    if not all(isinstance(each, torch.Tensor) and each.shape == eager.shape for each in found):
        return difference
    if difference.symptom not in {"value", "state"}:
        return difference
    expected = Expected(eager, _wide(eager), tuple(map(_wide, samples)), eager.dtype)
    wrong = expected.wrong(compiled, tolerance, _TIMES)
    if not bool(wrong.any()) or _is_noise(expected, compiled, wrong):
        return None
    worst = measured(difference.path, eager, compiled, ~wrong, tolerance.of(eager.dtype))
    return replace(worst, symptom=difference.symptom)


def _is_noise(expected: Expected, compiled: torch.Tensor, wrong: torch.Tensor) -> bool:
    """Whether what is wrong is less, all in all, than what rounding does to the tensor, all in all.

    A comparison that rounding turns sends all that follows another way, and moves a few of very many numbers far.
    """
    if not compiled.is_floating_point():
        return False
    off = (compiled.double() - expected.wide)[wrong].norm()
    return bool(off <= expected.rounding().norm())


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.double() if tensor.is_floating_point() else tensor


def _rounded(whole: Whole, state: Kept, seed: int) -> Ran:
    with _Rounding(seed):
        return ran(whole, state)


class _Rounding(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Each result off by as much as rounding it could be, at random."""

    def __init__(self, seed: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._numbers = torch.Generator().manual_seed(seed)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        result = func(*args, **(kwargs or {}))
        given = {storage_of(each) for each in tensors((args, kwargs or {}))}
        for each in tensors(result):
            if each.is_floating_point() and each.device.type == "cpu" and storage_of(each) not in given:
                shift = torch.rand(each.shape, generator=self._numbers, dtype=torch.float64) * 2 - 1
                each.copy_(each.double() * (1 + torch.finfo(each.dtype).eps * shift))
        return result

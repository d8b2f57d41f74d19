"""``verify``: whether a transformed graph does what the original does, and which node makes the first difference."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch.fx import GraphModule
from torch.nn.parameter import is_lazy

from pyharness.fx.verifying.calls import compared, described, outcome, tensors_of
from pyharness.fx.verifying.differences import Tolerance
from pyharness.fx.verifying.keeping import RandomState, kept
from pyharness.fx.verifying.locating import Pair
from pyharness.fx.verifying.locating import locate as located
from pyharness.model import given_numbers
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.results.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyharness.fx.verifying.calls import Outcome
    from pyharness.fx.verifying.keeping import Kept


def verify(  # noqa: PLR0913  (one for each thing that can be held equal or not)
    original: Callable[..., Any],
    transformed: Callable[..., Any],
    inputs: Any = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    check_dtype: bool = True,
    training: bool | None = None,
    seed: int = 0,
    locate: bool = True,
    gradients: bool = False,
) -> Verdict:
    """Call both with copies of ``inputs`` (a tuple, or one value) and ``kwargs``, and compare all that comes of it.

    ``original`` and ``transformed`` are GraphModules, or modules or functions, which are traced by
    ``pyharness.fx.Tracer`` if a difference is to be found in them. Results are compared leaf by leaf (tuples, lists,
    mappings, dataclasses), and so are inputs, buffers and parameters that the call changes. ``rtol`` and ``atol`` are
    those of ``torch.testing.assert_close`` for each dtype unless given.

    Both run from the same state and with random numbers from ``seed``; modules in ``training`` mode, in evaluation
    mode, or each as it is when ``None``. Parameters, buffers, modes, attributes and random numbers are put back.

    Where the results differ, both graphs run node by node, and ``Verdict.first`` is the node that makes the first
    difference; ``locate=False`` leaves that out. Nodes that draw random numbers in another order than in the original
    make no difference: then each is given the numbers of its counterpart.

    Where the results agree, ``gradients`` has the same random mixture of them go backward through both, and compares
    what comes to inputs of floating point and to parameters that both have by name. ``Verdict.first`` is then the node
    whose backward is the first to differ, seen from the result.

    Raises ``UsageError`` where the original itself cannot be called so, or has no gradients.
    """
    args = inputs if isinstance(inputs, tuple) else tuple(inputs) if isinstance(inputs, list) else (inputs,)
    named = dict(kwargs or {})
    tolerance = Tolerance(rtol, atol, equal_nan, check_dtype)
    given_numbers.seed(seed)
    pair = Pair(original, transformed, args, named)
    with kept(_checked(original, transformed), training, seed) as state:
        state.begin()
        before = RandomState()
        expected = outcome(original, args, named, tensors_of(original))
        drew = before.differs()
        if expected.error is not None:
            raise _unusable(expected, original)
        state.begin()
        actual = outcome(transformed, args, named, tensors_of(transformed))
        found = tuple(compared(expected, actual, tolerance))
        if not found:
            agreed = Verdict(ok=True, notes=stale(transformed))
            return agreed if not gradients else _with_gradients(agreed, pair, tolerance, state, seed, locate=locate)
        if not locate and not drew:
            return Verdict(ok=False, outputs=found)
        return located(pair, (expected, actual), found, tolerance, state)


def _with_gradients(
    agreed: Verdict, pair: Pair, tolerance: Tolerance, state: Kept, seed: int, *, locate: bool
) -> Verdict:
    from pyharness.fx.verifying.gradients import gradients_compared

    found = gradients_compared(pair, tolerance, state, seed=seed, locate=locate)
    return replace(found, notes=(*agreed.notes, *found.notes))


def stale(function: object) -> tuple[str, ...]:
    """A note where the graph was changed and not recompiled: what runs is not what the graph says."""
    if not isinstance(function, GraphModule) or _is_current(function):
        return ()
    return ("the graph is not what runs: it was changed without recompile(), or its file was edited",)


def _is_current(module: GraphModule) -> bool:
    try:
        return bool(module.graph.python_code(root_module="self").src == module.code)
    except Exception:  # noqa: BLE001  (a graph that generates no code cannot be what runs)
        return False


def _checked(*functions: Callable[..., Any]) -> Sequence[torch.nn.Module]:
    for each in functions:
        if not callable(each):
            raise UsageError(
                f"verify takes modules and functions, not {type(each).__name__}.",
                "Give it what is called: a module or a function, as the transform returned it.",
            )
    modules = [each for each in functions if isinstance(each, torch.nn.Module)]
    for module in modules:
        for name, tensor in tensors_of(module).items():
            if is_lazy(tensor):
                raise UsageError(f"{name} has no values yet: its module is lazy.", "Call the module once first.")
    return modules


def _unusable(expected: Outcome, original: object) -> HarnessError:
    name = getattr(original, "__name__", type(original).__name__)
    message = f"The original, {name}, cannot be called with these inputs: {described(expected.error or Exception())}"
    return UsageError(message, "Give inputs=(...) and kwargs={...} as in a call of it.")

"""Whether a module is good: the user's check or a comparison with the module before, and what came of it."""

from __future__ import annotations

import copy
import inspect
import traceback
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch.utils import _pytree as pytree

from pyharness.fx.bisecting.passes import BisectError
from pyharness.fx.verifying.keeping import RandomState
from pyharness.model.results.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch.fx import GraphModule

Kind = Literal["good", "wrong", "check raised", "pass raised", "lint"]


@dataclass(frozen=True)
class Values:
    """What a module is called with."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def fresh(self) -> Values:
        """Copies: a module may write into its inputs."""
        return Values(copied(self.args), copied(self.kwargs))


@dataclass(frozen=True)
class Outcome:
    """What came of passes and check."""

    kind: Kind
    detail: str = ""
    place: tuple[str, str, int] | None = None
    """Where the exception was raised: its type, file and line."""
    node: str | None = None
    """The first node that differs, where the check knows it."""
    at_pass: int | None = None
    """Index of the pass that raised."""
    verdict: Verdict | None = None
    error: BaseException | None = None

    @property
    def good(self) -> bool:
        """Nothing to complain about."""
        return self.kind == "good"

    def same_as(self, other: Outcome) -> bool:
        """Whether this failure is of the sort of an ``other``, so that shrinking does not slip from fault to fault.

        What a pass raises has to come from the same line; a check that raises runs other code for each graph. Where
        a difference made the rest fail, the difference alone will do.
        """
        if self.kind != other.kind:
            return False
        if self.kind == "pass raised":
            return self.place == other.place
        if self.verdict is not None and other.verdict is not None:
            return other.verdict.outputs[0].symptom in {"error", self.verdict.outputs[0].symptom}
        return self.kind != "check raised" or (self.place or ())[:1] == (other.place or ())[:1]


GOOD = Outcome("good")


class Check:
    """One check in one form: of the module before and after, and of the inputs."""

    def __init__(self, given: Callable[..., Any] | None) -> None:
        self.given = given
        self.compares = given is None or _positions(given) >= 3
        """Whether it is told the inputs and the module before: then both may be replaced by smaller ones."""
        self._state = RandomState()

    def __call__(self, before: GraphModule, after: GraphModule, values: Values, *, locate: bool = False) -> Outcome:
        """What the check says of ``after``, which it may change; ``before`` and the values stay as they are.

        ``locate`` asks for the node too.
        """
        linted = lint(after)
        if not linted.good:
            return linted
        with self.same_randomness():
            try:
                return _judged(self._call(before, after, values.fresh(), locate=locate))
            except BisectError:
                raise
            except Exception as error:  # noqa: BLE001  (a check may raise whatever it likes)
                return raised("check raised", error)

    def _call(self, before: GraphModule, after: GraphModule, values: Values, *, locate: bool) -> Any:
        if self.given is None:
            from pyharness.fx import verify

            return verify(before, after, values.args, values.kwargs, locate=locate)
        return self.given(copy.deepcopy(before), after, values.args) if self.compares else self.given(after)

    @contextmanager
    def same_randomness(self) -> Iterator[None]:
        """Every run draws the same random numbers, and the caller's are as if nothing had run."""
        saved = RandomState()
        self._state.restore()
        try:
            yield
        finally:
            saved.restore()


def lint(module: GraphModule) -> Outcome:
    """Whether the graph lints."""
    try:
        module.graph.lint()
    except Exception as error:  # noqa: BLE001  (RuntimeError, AssertionError and what getattr raises)
        return Outcome("lint", f"the graph does not lint: {first_line(error)}")
    return GOOD


def _judged(result: Any) -> Outcome:
    """A check says bad by False (or what is false), or by raising; None is good, so that asserts alone suffice."""
    if result is None:
        return GOOD
    try:
        good = bool(result)
    except (RuntimeError, ValueError, TypeError) as error:
        raise BisectError(
            f"The check returned a {type(result).__name__} that is neither true nor false: {first_line(error)}",
            "Return a bool, or raise where the module is bad.",
        ) from error
    if good:
        return GOOD
    if isinstance(result, Verdict):
        first = result.first
        return Outcome("wrong", _said(result), node=first.node if first else None, verdict=result)
    return Outcome("wrong", "the check says no")


def _said(verdict: Verdict) -> str:
    if verdict.first:
        return f"node {verdict.first.node}: {verdict.first.reason}"
    return f"the result differs: {verdict.outputs[0].message}" if verdict.outputs else "the result differs"


def raised(kind: Kind, error: BaseException, at_pass: int | None = None) -> Outcome:
    """The outcome of an exception, with the place that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    place = (type(error).__name__, frames[-1].filename, frames[-1].lineno or 0) if frames else None
    text = f"{type(error).__name__}: {first_line(error)}".removesuffix(": ")
    return Outcome(kind, text, place, at_pass=at_pass, error=error)


def first_line(error: BaseException) -> str:
    """The first line of what an exception says."""
    return (str(error).strip().splitlines() or [""])[0]


def copied(values: Any) -> Any:
    """A copy of nested values, tensors with storage of their own; other objects are deep-copied."""
    return pytree.tree_map(_copied, values)


def _copied(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    return copy.deepcopy(value)


def _positions(check: Callable[..., Any]) -> int:
    """How many arguments a check can be given by position."""
    try:
        parameters = inspect.signature(check).parameters.values()
    except (TypeError, ValueError):
        return 1
    if any(each.kind is each.VAR_POSITIONAL for each in parameters):
        return 3
    required = [each for each in parameters if each.kind in {each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD}]
    return len(required)

"""Expressions that the user typed, evaluated in a frame of the program they are debugging."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pyharness.debuggee import asked
from pyharness.debuggee.bounded import BOUNDS
from pyharness.host.own_rank import OWN_RANK

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType


def evaluated(expression: str, frame: FrameType) -> Any:
    """The value of ``expression``; raises what it raises. What it names with ``:=`` is no variable of the program.

    Lambdas and comprehensions in it see the frame's variables: ``eval`` lets them see only what it is given as globals.
    """
    return _evaluated(expression, frame, {})


def _evaluated(expression: str, frame: FrameType, more: dict[str, Any]) -> Any:
    """``more`` are names that the program may lack."""
    variables = dict(frame.f_locals)
    return eval(_compiled(expression), {**more, **frame.f_globals, **variables}, variables)  # noqa: S307


def bounded_value(kind: Callable[[Any], Any], expression: str, frame: FrameType) -> tuple[Any, str]:
    """The value of a condition, or of a part of a log message, as ``kind`` makes it; or why there is none.

    ``rank`` is the rank of this process, where the program has no such name itself.
    It raises what a handler of a signal raised meanwhile: Ctrl-C, a time limit of the program's own.
    """
    outcome = BOUNDS.run(lambda: kind(_evaluated(expression, frame, _rank(expression))))
    if outcome.error is not None and asked.is_programs(outcome.error):
        raise outcome.error
    return outcome.value, outcome.problem


def _rank(expression: str) -> dict[str, Any]:
    """The rank by its name, where an expression may mean it: most do not, and lines run often."""
    rank = OWN_RANK.number if "rank" in expression else None
    return {} if rank is None else {"rank": rank}


@lru_cache(maxsize=256)
def _compiled(expression: str) -> CodeType:
    return compile(expression, "<expression>", "eval")

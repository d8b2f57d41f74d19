"""Expressions that the user typed, evaluated in a frame of the program they are debugging."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pyharness.debuggee import asked
from pyharness.debuggee.bounded import BOUNDS

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType


def evaluated(expression: str, frame: FrameType) -> Any:
    """The value of ``expression``; raises what it raises. What it names with ``:=`` is no variable of the program.

    Lambdas and comprehensions in it see the frame's variables: ``eval`` lets them see only what it is given as globals.
    """
    variables = dict(frame.f_locals)
    return eval(_compiled(expression), {**frame.f_globals, **variables}, variables)  # noqa: S307


def bounded_value(kind: Callable[[Any], Any], expression: str, frame: FrameType) -> tuple[Any, str]:
    """The value of an expression as ``kind`` makes it, such as ``bool``; or why there is none.

    It raises what a handler of a signal raised meanwhile: Ctrl-C, a time limit of the program's own.
    """
    outcome = BOUNDS.run(lambda: kind(evaluated(expression, frame)))
    if outcome.error is not None and asked.is_programs(outcome.error):
        raise outcome.error
    return outcome.value, outcome.problem


@lru_cache(maxsize=256)
def _compiled(expression: str) -> CodeType:
    return compile(expression, "<expression>", "eval")

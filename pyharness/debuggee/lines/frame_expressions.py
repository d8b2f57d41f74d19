"""Expressions that the user typed, evaluated in a frame of the program they are debugging."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import CodeType, FrameType


def evaluated(expression: str, frame: FrameType) -> Any:
    """The value of ``expression``; raises what it raises. What it names with ``:=`` is no variable of the program.

    Lambdas and comprehensions in it see the frame's variables: ``eval`` lets them see only what it is given as globals.
    """
    variables = dict(frame.f_locals)
    return eval(_compiled(expression), {**frame.f_globals, **variables}, variables)  # noqa: S307


@lru_cache(maxsize=256)
def _compiled(expression: str) -> CodeType:
    return compile(expression, "<expression>", "eval")

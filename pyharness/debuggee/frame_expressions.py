"""Expressions that the user typed, evaluated in a frame of the program they are debugging."""

from __future__ import annotations

from functools import lru_cache
from types import CodeType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType


def evaluated(expression: str, frame: FrameType) -> Any:
    """The value of ``expression``; raises what it raises.

    Lambdas and comprehensions in it see the frame's variables: ``eval`` lets them see what it is given as globals only.
    """
    code, has_scopes = _compiled(expression)
    if has_scopes:
        return eval(code, {**frame.f_globals, **frame.f_locals})  # noqa: S307
    return eval(code, frame.f_globals, frame.f_locals)  # noqa: S307


@lru_cache(maxsize=256)
def _compiled(expression: str) -> tuple[CodeType, bool]:
    """The code, and whether it has scopes of its own."""
    code = compile(expression, "<expression>", "eval")
    return code, any(isinstance(constant, CodeType) for constant in code.co_consts)

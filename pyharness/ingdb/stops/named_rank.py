"""The name ``rank`` in conditions and log points of native code: the rank of the program, where the code has none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

import gdb

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")
_RANK = re.compile(r"(?<!->)(?<![\w.$:])rank\b(?!\s*[(:])")
_UNKNOWN = 'No symbol "rank"'


def with_rank(expression: str, rank: int | None, do: Callable[[str], Result]) -> Result:
    """What ``do`` makes of an expression; where gdb knows no ``rank``, of the one with its number instead."""
    try:
        return do(expression)
    except gdb.error as error:
        if rank is None or not str(error).startswith(_UNKNOWN):
            raise
    return do(_RANK.sub(str(rank), expression))

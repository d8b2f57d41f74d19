"""Room for the debugger's own calls in a program that has set a low recursion limit."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEPTH = 1000
"""Python's own limit."""


@contextmanager
def room() -> Iterator[None]:
    """At least Python's own limit, and the program's again behind it."""
    limit = sys.getrecursionlimit()
    if limit >= _DEPTH:
        yield
        return
    sys.setrecursionlimit(_DEPTH)
    try:
        yield
    finally:
        if sys.getrecursionlimit() == _DEPTH:  # else an expression has set another one
            sys.setrecursionlimit(limit)

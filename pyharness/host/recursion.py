"""Room for the debugger's own calls in a program that has set a low recursion limit, or is near to it."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEPTH = 1000
"""Python's own limit."""
IMPORTS = 500
"""Frames that the debugger takes to come into a program."""


@contextmanager
def room(more: int = 0) -> Iterator[None]:
    """At least Python's own limit, ``more`` frames than the program's, and its own limit again behind it."""
    limit = sys.getrecursionlimit()
    wanted = max(limit + more, _DEPTH)
    if limit == wanted:
        yield
        return
    sys.setrecursionlimit(wanted)
    try:
        yield
    finally:
        if sys.getrecursionlimit() == wanted:  # else an expression has set another one
            sys.setrecursionlimit(limit)

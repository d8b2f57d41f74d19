"""Lets whoever debugs end a call that gdb makes into the program: by a signal at which gdb then unwinds the call."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyharness.ingdb import console
from pyharness.ingdb.settings import temporarily
from pyharness.model.evaluation import END_SIGNAL

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def possible() -> Iterator[None]:
    """Meanwhile the signal is gdb's: it stops the thread that gets it, and the program does not see it."""
    console.run(f"handle {END_SIGNAL} stop print nopass")
    try:
        with temporarily("unwindonsignal", "on"):
            yield
    finally:
        console.run(f"handle {END_SIGNAL} nostop noprint pass")

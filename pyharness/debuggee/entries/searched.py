"""The user's script under a handle, with a search around it from its import of torch to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.debuggee.entries import entry
from pyharness.debuggee.watched.imports import after_import

if TYPE_CHECKING:
    from collections.abc import Callable

FOUND = 1
"""Exit status where something was found, whatever the program made of it."""


def run_searched(begin: Callable[[], None], end: Callable[[], int]) -> int:
    """Become the script; ``end`` says what was found, and gives the exit status for it, 0 for nothing."""
    after_import("torch", lambda _: begin())
    try:
        status = entry.main()
    except SystemExit as ended:
        if end():
            raise SystemExit(ended.code or FOUND) from None
        raise
    except BaseException:
        end()
        raise
    return end() or status

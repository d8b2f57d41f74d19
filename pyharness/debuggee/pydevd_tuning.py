"""What debugpy does better in a program with the harness beside it, however it came there."""

from __future__ import annotations

from typing import Any

from pyharness.debuggee import presentation, unwound_steps


def tune(debugger: Any) -> None:
    """Have pydevd show torch's objects, step as told, and not tell of first steps through a library."""
    presentation.register()
    unwound_steps.watch()
    debugger.notify_skipped_step_in_because_of_filters = _nothing  # VS Code would open a notification


def _nothing(*_arguments: Any) -> None:
    """Say nothing."""

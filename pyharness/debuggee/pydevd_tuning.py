"""What debugpy does better in a program with the harness beside it, however it came there."""

from __future__ import annotations

from typing import Any

from pyharness.debuggee import presentation, pydevd_evaluation, unwound_steps
from pyharness.debuggee.conditions import Conditions


def tune(debugger: Any) -> None:
    """Have pydevd show torch's objects, step as told, stop where a condition raises, and open no notifications."""
    presentation.register()
    pydevd_evaluation.bound()
    unwound_steps.watch()
    conditions = Conditions(debugger)
    debugger.handle_breakpoint_condition = conditions.hold
    debugger.handle_breakpoint_expression = conditions.express
    debugger.notify_skipped_step_in_because_of_filters = _nothing  # VS Code would open a notification


def _nothing(*_arguments: Any) -> None:
    """Say nothing."""

"""What debugpy does better in a program with the harness beside it, however it came there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyharness.debuggee.pydevd import emptied_modules, presentation, unwound_steps
from pyharness.debuggee.pydevd import evaluation as pydevd_evaluation
from pyharness.debuggee.pydevd.conditions import Conditions

if TYPE_CHECKING:
    from collections.abc import Callable


def tune(debugger: Any) -> None:
    """Have pydevd show torch's objects, step as told, stop where a condition raises, and open no notifications."""
    presentation.register()
    pydevd_evaluation.bound()
    unwound_steps.watch()
    conditions = Conditions(debugger)
    debugger.handle_breakpoint_condition = conditions.hold
    debugger.handle_breakpoint_expression = conditions.express
    for name in ("set_suspend", "do_wait_suspend"):  # a stop begins with one of them
        setattr(debugger, name, _with_modules(getattr(debugger, name)))
    debugger.notify_skipped_step_in_because_of_filters = _nothing  # VS Code would open a notification


def _with_modules(function: Callable[..., Any]) -> Callable[..., Any]:
    def stands_for(*arguments: Any, **named: Any) -> Any:
        emptied_modules.put_back()
        return function(*arguments, **named)

    return stands_for


def _nothing(*_arguments: Any) -> None:
    """Say nothing."""

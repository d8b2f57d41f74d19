"""Exception breakpoints: Python's own, which debugpy knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyharness.dap.registry import request
from pyharness.model.errors import UsageError, nearest

if TYPE_CHECKING:
    from pyharness.dap.arguments import Arguments
    from pyharness.dap.session import Session
    from pyharness.model.dap_wire import Message

FILTERS: list[dict[str, Any]] = [
    {
        "filter": "raised",
        "label": "Raised Exceptions",
        "description": "Whenever Python raises an exception.",
        "default": False,
        "supportsCondition": True,
        "conditionDescription": "the type, e.g. ValueError",
    },
    {
        "filter": "uncaught",
        "label": "Uncaught Exceptions",
        "description": "When an exception of Python's leaves the program.",
        "default": True,
        "supportsCondition": True,
        "conditionDescription": "the type, e.g. ValueError",
    },
    {
        "filter": "userUnhandled",
        "label": "User Uncaught Exceptions",
        "description": "When an exception leaves your own Python code into a library's.",
        "default": False,
        "supportsCondition": True,
        "conditionDescription": "the type, e.g. ValueError",
    },
]
_PYTHON = ("raised", "uncaught", "userUnhandled")


@request(
    "setExceptionBreakpoints",
    needs="program",
    supportsExceptionFilterOptions=True,
    supportsExceptionInfoRequest=True,
    supportsExceptionOptions=False,
)
def set_exception_breakpoints(session: Session, arguments: Arguments) -> Message:
    """Which exceptions stop the program."""
    options = [(each.text("filterId"), each.text("condition", "")) for each in arguments.objects("filterOptions")]
    wanted = [(name, "") for name in arguments.texts("filters")] + options
    known = [entry["filter"] for entry in FILTERS]
    for name, _ in wanted:
        if name not in known:
            raise UsageError(f"There is no exception filter {name!r}.", nearest(name, known))
    session.breakpoints.set_exceptions(wanted)
    return {"breakpoints": [{"verified": True} for _ in wanted]}


def for_debugpy(wanted: list[tuple[str, str]]) -> Message:
    """debugpy's arguments for the filters of Python's among those wanted."""
    python = [(name, condition) for name, condition in wanted if name in _PYTHON]
    return {
        "filters": [name for name, condition in python if not condition],
        "filterOptions": [{"filterId": name, "condition": condition} for name, condition in python if condition],
    }


@request("exceptionInfo")
def exception_info(session: Session, arguments: Arguments) -> Message:
    """What was raised, or which signal came."""
    focus, shell = session.focus(), session.require_program()
    thread = arguments.integer("threadId")
    if focus.thread == thread and focus.reason == "signal":
        name, _, meaning = shell.signal.partition(": ")
        return {"exceptionId": name, "description": meaning, "breakMode": "always"}
    return session.python().request_of(thread, "exceptionInfo")

"""Exception breakpoints: of Python, which debugpy knows, and of C++, which gdb does; what a stop at one is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyharness.dap.registry import request
from pyharness.debugger.native_signals import NativeSignals
from pyharness.model.errors import HarnessError, UsageError, nearest

if TYPE_CHECKING:
    from pyharness.dap.arguments import Arguments
    from pyharness.dap.session import Session
    from pyharness.debugger.native_exceptions import CxxException
    from pyharness.model.dap_wire import Message

_TYPE = "the type, e.g. ValueError"
_CXX_TYPES = "patterns of types, or of a base's, e.g. c10::*Error, std::bad_alloc"


def _filter(name: str, label: str, description: str, condition: str, *, default: bool = False) -> dict[str, Any]:
    said = {"filter": name, "label": label, "description": description, "default": default}
    return {**said, "supportsCondition": True, "conditionDescription": condition}


FILTERS: list[dict[str, Any]] = [
    _filter("raised", "Raised Exceptions", "Whenever Python raises an exception.", _TYPE),
    _filter("uncaught", "Uncaught Exceptions", "When a Python exception leaves the program.", _TYPE, default=True),
    _filter(
        "userUnhandled", "User Uncaught Exceptions", "When one leaves your own Python code into a library's.", _TYPE
    ),
    _filter("cxxThrow", "C++ Throw", "When your own C++ code throws.", _CXX_TYPES),
    _filter("cxxThrough", "C++ Throw Through", "When a C++ exception starts its way through your code.", _CXX_TYPES),
    _filter("cxxCatch", "C++ Catch", "When your own C++ code catches.", _CXX_TYPES),
    _filter(
        "signals", "More Signals", "At signals that do not end a program, too.", "their names, e.g. SIGUSR1, SIGPIPE"
    ),
]
PYTHON = ("raised", "uncaught", "userUnhandled")


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
    ignored = session.breakpoints.ignored
    return {"breakpoints": [{"verified": not ignored, **({"message": ignored} if ignored else {})} for _ in wanted]}


def for_debugpy(wanted: list[tuple[str, str]]) -> Message:
    """debugpy's arguments for the filters of Python's among those wanted."""
    python = [(name, condition) for name, condition in wanted if name in PYTHON]
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
        signal = NativeSignals(shell.attach()).info(thread)
        return {"exceptionId": signal.name, "description": signal.text, "breakMode": "always"}
    if focus.thread == thread and focus.language == "native":
        return _cxx(session.native_filters.info(thread))
    return session.python().request_of(thread, "exceptionInfo")


def _cxx(found: CxxException | None) -> Message:
    if found is None:
        raise HarnessError("No exception is known here.")
    details = {"message": found.what, "typeName": found.type, "fullTypeName": " : ".join([found.type, *found.bases])}
    mode = "always" if found.kind == "throw" else "userUnhandled"
    return {"exceptionId": found.type, "description": found.what, "breakMode": mode, "details": details}

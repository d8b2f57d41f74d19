"""Exception breakpoints: of Python, which debugpy knows, and of C++, which gdb does; what a stop at one is about."""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING, Any

from pyharness.dap.registry import request
from pyharness.debugger.native.filters import words
from pyharness.debugger.native.signals import NativeSignals
from pyharness.debugger.python.exceptions import PYTHON, exception_of
from pyharness.model.errors import HarnessError, UsageError, nearest

if TYPE_CHECKING:
    from pyharness.dap.arguments import Arguments
    from pyharness.dap.session import Session
    from pyharness.dapwire.wire import Message
    from pyharness.protocol.mi import CxxException

_TYPE = "patterns of types, or of a base's, e.g. ValueError, torch.*Error"
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
    problems = [session.breakpoints.ignored or _problem(*each) for each in wanted]
    session.breakpoints.set_exceptions([each for each, problem in zip(wanted, problems, strict=True) if not problem])
    return {"breakpoints": [{"verified": False, "message": each} if each else {"verified": True} for each in problems]}


def _problem(name: str, condition: str) -> str:
    """What is wrong with a filter's condition, empty for nothing."""
    if name == "signals":
        if not words(condition):
            return "Name the signals in the condition, e.g. SIGUSR1."
        unknown = [each for each in words(condition) if each not in signal.Signals.__members__]
        return (
            f"There is no signal {unknown[0]!r}. {nearest(unknown[0], signal.Signals.__members__)}" if unknown else ""
        )
    wrong = [each for each in words(condition) if name in PYTHON and not re.fullmatch(r"[\w.*?]+", each)]
    return f"{wrong[0]!r} is no name of a type. Write e.g. ValueError, torch.*Error." if wrong else ""


@request("exceptionInfo")
def exception_info(session: Session, arguments: Arguments) -> Message:
    """What was raised, or which signal came."""
    focus, shell = session.focus(), session.require_program()
    thread = arguments.integer("threadId")
    if focus.thread == thread and focus.reason == "signal":
        came = NativeSignals(shell.attach()).info(thread)
        return {"exceptionId": came.name, "description": came.text, "breakMode": "always"}
    if focus.thread == thread and focus.language == "native":
        return _cxx(session.native_filters.info(thread))
    return exception_of(session.python(), thread)


def _cxx(found: CxxException | None) -> Message:
    if found is None:
        raise HarnessError("No exception is known here.")
    details = {"message": found.what, "typeName": found.type, "fullTypeName": " : ".join([found.type, *found.bases])}
    mode = "always" if found.kind == "throw" else "userUnhandled"
    return {"exceptionId": found.type, "description": found.what, "breakMode": mode, "details": details}

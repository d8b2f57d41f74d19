"""What pydevd runs of the user's for a client (expressions, reprs, properties, completions), under our bounds."""

from __future__ import annotations

import functools
import inspect
import sys
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.bounded import BOUNDS, told
from pyharness.debuggee.lines.frame_expressions import evaluated
from pyharness.debuggee.link import thread_names
from pyharness.debuggee.pydevd.steps import returned
from pyharness.debuggee.pydevd.stops import interrupted_waits
from pyharness.debuggee.pydevd.values import safe_text
from pyharness.debuggee.unpatched import _thread
from pyharness.host import recursion
from pyharness.protocol.pydevd import ARGUMENTS, RETURNED, RETURNED_BY, WHO

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType

    from pyharness.debuggee.bounded import Outcome

_MARK = "pyharness_bounded"
_NOTHING = {
    "completions": {"targets": []},
    "evaluate": {"result": "", "variablesReference": 0},
    "setExpression": {"value": ""},
    "setVariable": {"value": ""},
    "variables": {"variables": []},
}
"""What pydevd's answer to a request must have, also to one that it refuses."""


def bound() -> None:
    """Put pydevd's functions that run the user's code under our bounds, once for all sessions of the process."""
    from _pydev_bundle import _pydev_completer
    from _pydevd_bundle import pydevd_comm, pydevd_suspended_frames, pydevd_vars
    from _pydevd_bundle.pydevd_process_net_command_json import PyDevJsonCommandProcessor
    from _pydevd_bundle.pydevd_safe_repr import SafeRepr

    if hasattr(pydevd_vars, _MARK):
        return
    setattr(pydevd_vars, _MARK, True)
    safe_text.register()
    _around(pydevd_comm.InternalThreadCommand, "do_it", _question)
    pydevd_vars.evaluate_expression = pydevd_vars.evaluate_expression.__wrapped__  # without its thread for a warning
    _around(pydevd_vars, "evaluate_expression", _evaluated)
    _around(pydevd_vars, "change_attr_expression", _assigned)
    _around(SafeRepr, "__call__", _text)
    _around(pydevd_suspended_frames._AbstractVariable, "get_var_data", _shown)
    for kind in (pydevd_suspended_frames._ObjectVariable, pydevd_suspended_frames._FrameVariable):
        _around(kind, "get_children_variables", _children)
    _around(pydevd_suspended_frames._ObjectVariable, "change_variable", _changed)
    _around(pydevd_comm, "_set_expression_response", _not_set)
    _around(_pydev_completer, "generate_completions", _completions)
    PyDevJsonCommandProcessor.on_cancel_request = _cancel


def _around(holder: Any, name: str, wrapper: Callable[..., Any]) -> None:
    original = getattr(holder, name)

    @functools.wraps(original)
    def bounded(*arguments: Any, **named: Any) -> Any:
        return wrapper(functools.partial(original, *arguments, **named), *arguments, **named)

    setattr(holder, name, bounded)


def _question(do: Callable[[], Any], question: Any, debugger: Any) -> Any:
    """One request of the client's: whatever it takes to answer it has the time of one expression.

    Where pydevd fails over an object of the user's, the client hears that: it would wait, and the program's stderr
    would have pydevd's traceback.
    """
    request = next((each for each in question.args if hasattr(each, "seq")), None)
    try:
        with recursion.room(), BOUNDS.shared():
            return do()
    except (Exception, KeyboardInterrupt) as error:
        if isinstance(error, KeyboardInterrupt):  # it came to the program, which shall hear of it when it goes on
            if not interrupted_waits.keep(error):
                _thread.interrupt_main()
            if request is None:
                return None
        elif request is None:
            raise
        debugger.writer.add_command(_refused(request, told(error)))
        return None


def _evaluated(evaluate: Callable[[], Any], debugger: Any, frame: Any, expression: str, is_exec: bool) -> Any:  # noqa: FBT001
    """An expression; pydevd would let a ``SystemExit`` through, and it never ends one."""
    if expression == WHO:
        return thread_names.all_as_json()
    if expression == ARGUMENTS and frame is not None:
        return _arguments(frame.f_code)
    if expression in {RETURNED, RETURNED_BY}:
        return returned.asked(expression)
    if frame is None or frame.f_code.co_filename.endswith("pydevd_comm.py"):  # without a frame of the program's: ours
        return evaluate()
    outcome = BOUNDS.run(evaluate)
    _print(debugger, outcome)
    from _pydevd_bundle.pydevd_xml import ExceptionOnEvaluate

    error = outcome.error
    failed = type(outcome.value) is ExceptionOnEvaluate  # not isinstance: it asks the value for its __class__
    if failed and isinstance(outcome.value.result, MemoryError):
        error = outcome.value.result
    if error is None:
        return outcome.value
    raised = error if isinstance(error, Exception) and not isinstance(error, MemoryError) else _as_exception(error)
    if is_exec:
        raise raised
    return ExceptionOnEvaluate(raised, type(raised), raised.__traceback__)


def _arguments(code: CodeType) -> list[str]:
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return list(code.co_varnames[:count])


def _as_exception(error: BaseException) -> Exception:
    """What pydevd takes for an answer, of the same name; a traceback would keep the memory that was too much."""
    stands_for: type[Exception] = type(type(error).__name__, (Exception,), {"__module__": "builtins"})
    trace = None if isinstance(error, MemoryError) else error.__traceback__
    return stands_for(told(error).partition(": ")[2]).with_traceback(trace)


def _print(debugger: Any, outcome: Outcome) -> None:
    """What the user's code printed goes to the client, before what it was run for."""
    if outcome.prints and debugger:
        debugger.writer.add_command(debugger.cmd_factory.make_io_message(outcome.prints, 1))


def _text(represent: Callable[[], str], *_arguments: Any, **_named: Any) -> str:
    from _pydevd_bundle.pydevd_constants import get_global_debugger

    outcome = BOUNDS.run(represent)
    _print(get_global_debugger(), outcome)
    return str(outcome.value) if outcome.error is None else f"<{outcome.problem}>"


def _shown(show: Callable[[], Any], variable: Any, *_arguments: Any, **_named: Any) -> Any:
    outcome = BOUNDS.run(show)
    _print(variable.py_db, outcome)
    if outcome.error is None:
        return outcome.value
    kind = safe_text.kind_of(variable.value)
    return {"name": variable.name, "value": f"<{outcome.problem}>", "type": kind, "variablesReference": 0}


def _children(find: Callable[[], Any], variable: Any, *_arguments: Any, **_named: Any) -> Any:
    outcome = BOUNDS.run(find)
    _print(variable.py_db, outcome)
    if outcome.error is None:
        return outcome.value
    raise RuntimeError(outcome.problem)


def _changed(change: Callable[[], Any], *_arguments: Any, **_named: Any) -> Any:
    outcome = BOUNDS.run(change)
    if isinstance(outcome.error, Exception):
        raise outcome.error
    return outcome.value


def _assigned(change: Callable[..., Any], frame: Any, _name: str, expression: str, *rest: Any, **named: Any) -> Any:
    """A variable's new value; pydevd says nothing of one that cannot be evaluated, and answers with the old one."""
    if frame is None or len(rest) > 1 or "value" in named:
        return _changed(change)
    value = _changed(lambda: evaluated(expression, frame))
    return _changed(functools.partial(change, value=value))


def _not_set(_respond: Callable[[], Any], debugger: Any, request: Any, **_named: Any) -> None:
    """Why there is no such value; pydevd names the statement alone. It calls this where it handles the exception."""
    error = sys.exc_info()[1]
    debugger.writer.add_command(_refused(request, told(error) if error else "It cannot be set."))


def _completions(complete: Callable[[], Any], *_arguments: Any, **_named: Any) -> Any:
    return BOUNDS.run(complete).value or []


def _cancel(_processor: Any, _debugger: Any, request: Any) -> Any:
    """The client's ``cancel``, on pydevd's reading thread: whatever runs is ended."""
    BOUNDS.cancel()
    return _answer(request)


def _refused(request: Any, why: str) -> Any:
    return _answer(request, {"success": False, "message": why, "body": _NOTHING.get(request.command, {})})


def _answer(request: Any, fields: dict[str, object] | None = None) -> Any:
    from _pydevd_bundle._debug_adapter.pydevd_base_schema import build_response
    from _pydevd_bundle.pydevd_comm_constants import CMD_RETURN
    from _pydevd_bundle.pydevd_net_command import NetCommand

    return NetCommand(CMD_RETURN, 0, build_response(request, kwargs=fields), is_json=True)

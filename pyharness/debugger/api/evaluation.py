"""The text of an expression where a program stands: debugpy's value, gdb's, or the agent's on a native stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.debugger.expressions import (
    Expression,
    gdb_says_why,
    is_gdbs_alone,
    is_known,
    is_pythons_alone,
    python_answer,
)
from pyharness.debugger.merged_stack import StackFrame, merged_stack
from pyharness.debugger.python.asking import with_prints
from pyharness.debugger.python.dap_client import RequestError
from pyharness.gdbmi.client import GdbError
from pyharness.model.errors import HarnessError
from pyharness.model.evaluation import checked_level

if TYPE_CHECKING:
    from pyharness.debugger.shell import Shell
    from pyharness.model.stops import Stop


def text_of(shell: Shell, stop: Stop, typed: str, level: int) -> str:
    """The text; ``level`` counts frames of the expression's language outwards."""
    language = stop.frame.language
    wanted = Expression.of(typed, language)
    if language == "python":
        if wanted.language == "native":
            raise HarnessError(f"{typed!r}: the thread is stopped in Python code.", "Step into native code first.")
        return shell.python.evaluate(stop.thread, wanted.text, level)
    native = shell.attach()
    said_gdb = ""
    if wanted.language == "native":
        try:
            return native.evaluate(stop.thread, wanted.text, level)
        except GdbError as error:
            if typed.startswith("native:"):
                raise
            said_gdb = str(error)
    stack = merged_stack(shell, stop.thread) if level else []
    own = [each for each in stack if each.frame.language == "python" and not each.frame.plumbing]
    shown = own[checked_level(level, len(own))] if level else StackFrame(stop.thread, 0, stop.frame)
    with gdb_says_why(_refused(wanted.text, said_gdb)):
        answer = python_answer(shell, stack, shown, wanted.text)
    if answer.text is None:
        problem = f"{answer.prints}{answer.problem}"
        if wanted.language == "python":
            raise RequestError(problem)
        raise _unknown(wanted.text, said_gdb, answer.problem, problem)
    return with_prints(answer.prints, answer.text)


def _unknown(expression: str, said_gdb: str, raised: str, problem: str) -> HarnessError:
    """The error of an expression without a value; gdb may know what it names, and not what it does with it."""
    message = said_gdb.partition("\n")[0]
    refused = _refused(expression, said_gdb)
    if refused and is_gdbs_alone(expression, message, raised):
        return refused
    if is_pythons_alone(expression, message, raised):
        return RequestError(problem)
    if refused:
        return HarnessError(_no_value(expression, message), f"In Python: {problem}")
    return HarnessError(f"{expression!r} is known neither to gdb nor to Python here.", problem)


def _refused(expression: str, said_gdb: str) -> HarnessError | None:
    """What gdb says of an expression of which it knows what it names."""
    message, _, remedy = said_gdb.partition("\n")
    if not is_known(expression, message):
        return None
    return HarnessError(message if expression in message else _no_value(expression, message), remedy)


def _no_value(expression: str, message: str) -> str:
    return f"gdb has no value for {expression!r}: {message}"

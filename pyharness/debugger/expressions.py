"""An expression in a frame of the merged stack: in which language it is, and who has its value."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from pyharness.debugger.merged_stack import merged_stack, python_callers, python_place
from pyharness.debugger.native.variables import NativeVariables, NoValueError
from pyharness.model.conditions.op_names import MENTION
from pyharness.model.errors import DebuggerLostError, HarnessError
from pyharness.model.evaluation import checked_text
from pyharness.model.frozen import frozen
from pyharness.model.variable import Variable
from pyharness.protocol.agent import NOT_EVALUATED, Evaluate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyharness.debugger.merged_stack import StackFrame
    from pyharness.debugger.shell import Shell
    from pyharness.model.frames import Language
    from pyharness.protocol.agent import Evaluated

_CXX = "Give a C++ expression of this frame, a register as $rax"
_NO_SYMBOL = re.compile(r"(?:^|cannot be evaluated here: )No symbol ")
_UNTYPED = "has unknown"
"""What gdb says of a function of a library without debug information: ``time`` is most likely Python's."""
_RAISED = re.compile(r"([\w.]+)(?:: |$)")
_NOT_PYTHONS = {"NameError", "SyntaxError"}
"""What Python raises where the expression is none of its own."""
_PREFIXES: tuple[tuple[Language, str], ...] = (("python", "py:"), ("native", "native:"))


@frozen
class Expression:
    """What a person asks for."""

    text: str
    language: Language

    @staticmethod
    def of(typed: str, default: Language) -> Expression:
        """The expression without its prefix, which chooses the language: ``py:`` or ``native:``."""
        checked_text(typed)
        for language, prefix in _PREFIXES:
            if typed.startswith(prefix):
                return Expression(typed.removeprefix(prefix).strip(), language)
        return Expression(typed, default)


@frozen
class Value:
    """An expression's value, and what evaluating it has printed."""

    variable: Variable
    prints: str = ""


def value_of(
    shell: Shell,
    stack: Sequence[StackFrame],
    shown: StackFrame,
    expression: Expression,
    *,
    manner: Literal["glance", "copy", "whole"],
) -> Value:
    """The value in a frame that debugpy does not hold: from memory, or by the program itself.

    The program is asked on the thread that stands, or on the one for which that works. ``stack`` is the merged one of
    the thread, or the part of it that was read. What a person types in a native frame (``whole``) may be Python's, as
    at ``step --print``. A watch or a hover (``glance``) is asked for by itself, again and again: it runs nothing of
    Python's there, and neither does a ``copy`` of what is shown, which has all lines of it.
    """
    language, text = expression.language, expression.text
    if language != shown.frame.language and language == "native":
        raise HarnessError(f"{text!r}: this frame is Python code.", "Select a frame of native code.")
    refused: HarnessError | None = None
    if language == shown.frame.language and shown.level >= 0:
        try:
            known = NativeVariables(shell.attach())
            return Value(known.evaluate(shown.thread, shown.level, text, whole=manner != "glance"))
        except HarnessError as error:
            refused = error
    if refused and text.isidentifier() and is_known(text, refused.message) and _UNTYPED not in refused.message:
        raise refused  # C++ has the name, whatever Python calls so
    focus = shell.machine.focus
    may_be_python = language == "python" or (manner == "whole" and isinstance(refused, NoValueError))
    looks_from = {shown.thread, *(each.thread for each in stack[:1])}
    stands = focus is not None and focus.language == "native" and focus.thread in looks_from
    if may_be_python and stands and focus is not None and focus.reason != "signal" and not shell.immobile:
        return _by_the_program(shell, stack, shown, expression, refused)
    if language != shown.frame.language:
        callers = python_callers(stack, shown) or python_callers(merged_stack(shell, shown.thread), shown)
        if not callers:
            raise HarnessError(f"{text!r}: no Python has called this frame.", "Look at another thread: `threads`.")
        known = NativeVariables(shell.attach())
        return Value(known.evaluate(callers[0].thread, callers[0].level, text, whole=manner != "glance"))
    if language == "native" and isinstance(refused, NoValueError):
        raise HarnessError(refused.message, f"{_CXX}, or Python's with py: before it.") from refused
    raise refused or HarnessError(f"{text!r} cannot be evaluated here.", _why_not(shell, shown))


def _by_the_program(
    shell: Shell,
    stack: Sequence[StackFrame],
    shown: StackFrame,
    expression: Expression,
    refused: HarnessError | None,
) -> Value:
    is_cxx = refused and expression.language != "python" and is_known(expression.text, refused.message)
    with gdb_says_why(refused if is_cxx else None):
        answer = python_answer(shell, stack, shown, expression.text)
    if answer.text is not None:
        return Value(Variable("", answer.text), answer.prints)
    problem = f"{answer.prints}{answer.problem}"
    if expression.language == "python":
        raise HarnessError(problem)
    if refused and is_gdbs_alone(expression.text, refused.message, answer.problem):
        raise refused
    if refused and is_pythons_alone(expression.text, refused.message, answer.problem):
        raise HarnessError(problem)
    said = refused.message.rstrip(".") if refused else ""
    raise HarnessError(f"{said}. In Python: {problem}", f"{_CXX}, or one of Python.")


def python_answer(shell: Shell, stack: Sequence[StackFrame], shown: StackFrame, text: str) -> Evaluated:
    """What Python says of an expression at a native stop: in the frame, or in the one of Python that called it."""
    callers = python_callers(stack, shown)
    if not callers:  # no more of the stack was read than the frame
        stack = merged_stack(shell, shown.thread)
        callers = [each for each in python_callers(stack, shown) if each.thread != shown.thread]
    if not callers:  # the thread's own innermost one, as the agent finds it
        return shell.ask_agent(shown.thread, Evaluate(text)) or NOT_EVALUATED
    called, place = callers[0], ("", 0, 0)
    if (
        called.thread == shown.thread
    ):  # else the innermost one of the thread for which that works, as the agent finds it
        place = python_place([each.frame for each in stack if each.thread == called.thread], called.frame)
    focus = shell.machine.focus
    ask = shell.ask_agent if focus is not None and called.thread == focus.thread else shell.ask_owner
    return ask(called.thread, Evaluate(text, *place)) or NOT_EVALUATED


@contextmanager
def gdb_says_why(refused: HarnessError | None) -> Iterator[None]:
    """Raise what gdb ``refused`` with where the program cannot be asked, if gdb knows what was named."""
    try:
        yield
    except DebuggerLostError:
        raise
    except HarnessError:
        if refused:
            raise refused from None
        raise


def is_gdbs_alone(expression: str, said_gdb: str, problem: str) -> bool:
    """Whether gdb knows what an expression names, by which it was refused, and Python has no such name."""
    return problem.startswith(tuple(_NOT_PYTHONS)) and is_known(expression, said_gdb)


def is_pythons_alone(expression: str, said_gdb: str, problem: str) -> bool:
    """Whether Python knows what an expression names, and gdb has no such name."""
    raised = _RAISED.match(problem)
    return raised is not None and raised[1] not in _NOT_PYTHONS and not is_known(expression, said_gdb)


def is_known(expression: str, said_gdb: str) -> bool:
    """Whether gdb, by which an expression was refused, knows what it names."""
    if "is no value of this stop" in said_gdb:
        return bool(MENTION.search(expression))
    return bool(said_gdb) and not _NO_SYMBOL.search(said_gdb)


def _why_not(shell: Shell, shown: StackFrame) -> str:
    focus = shell.machine.focus
    if focus is None or focus.thread != shown.thread:
        return "Its thread does not stand: select a frame of the one that does."
    if focus.reason == "signal":
        return "Nothing is run on a thread that got a signal; names in memory can be shown in a frame of Python."
    return "Step back to Python first."

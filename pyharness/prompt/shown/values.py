"""Expressions at the prompt, in the frame that is looked at, and what is said of those that fail."""

from __future__ import annotations

import ast
from contextlib import suppress
from typing import TYPE_CHECKING

from pyharness.debugger.expressions import Expression, value_of
from pyharness.debugger.python.asking import with_prints
from pyharness.debugger.python.dap_client import RequestError
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.text.python_error import prints_and_error
from pyharness.model.text.visible import visible

if TYPE_CHECKING:
    from pyharness.prompt.session import Session


def text_of(session: Session, typed: str) -> str:
    """The text of an expression, behind what it printed."""
    shown = session.where.shown
    expression = expression_of(session, typed, "p x.shape")
    if expression.language == "python" and shown.debugpy is not None:
        return _of_debugpy(session, shown.debugpy, expression.text)
    value = value_of(session.shell, session.where.around, shown, expression, manner="whole")
    note = f" <{value.variable.note}>" if value.variable.note else ""
    return with_prints(value.prints, f"{value.variable.value}{note}")


def expression_of(session: Session, typed: str, example: str) -> Expression:
    """What was typed, in the language of the frame that is looked at where it names none."""
    if not typed:
        raise UsageError("Which expression?", f"For example: {example}")
    if typed.startswith("/"):
        option = typed.split(maxsplit=1)[0]
        raise UsageError(f"No expression begins with a slash, as {option} does.", f"gdb has formats: `gdb p{typed}`.")
    return Expression.of(typed, session.where.shown.frame.language)


def _of_debugpy(session: Session, frame: int, text: str) -> str:
    asking = session.shell.python.asking
    try:
        body = asking.ask("evaluate", {"expression": text, "frameId": frame, "context": "repl"})
    except RequestError as error:
        raise raised(f"{asking.printed}{error.message}") from error
    return with_prints(asking.printed, str(body["result"]) or ("None" if _is_expression(text) else ""))


def raised(said: str) -> HarnessError:
    """An exception of Python's in the words of its last line, behind what was printed before."""
    return HarnessError("".join(prints_and_error(said) or (said.rstrip(),)))


def _is_expression(text: str) -> bool:
    with suppress(SyntaxError, ValueError, MemoryError, RecursionError):
        ast.parse(text.strip(), mode="eval")
        return True
    return False


def literal(text: str) -> str:
    """The text that a ``repr`` of one is of."""
    with suppress(SyntaxError, ValueError, MemoryError, RecursionError):
        value = ast.literal_eval(text)
        if isinstance(value, str):
            return value
    return visible(text)

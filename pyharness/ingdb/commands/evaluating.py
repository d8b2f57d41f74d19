"""ph-print: an expression in the language of the code that is stopped, or in the Python that called it."""

from __future__ import annotations

import gdb

from pyharness.ingdb import terminal
from pyharness.ingdb.calls import agent, expressions
from pyharness.ingdb.functions.trap_line import current_line
from pyharness.ingdb.prompt.registry import command
from pyharness.model.errors import UsageError
from pyharness.protocol.agent import Evaluate

_PYTHON = "-python "


@command("ph-print", gdb.COMMAND_DATA)
def ph_print(argument: str) -> None:
    """Evaluate an expression where the program is stopped: ph-print EXPR, ph-print -python EXPR.

    At a Python line, and with -python in native code, it is evaluated in your innermost Python frame.
    """
    if not argument:
        raise UsageError("Print what?", "Write ph-print EXPR.")
    if not argument.startswith(_PYTHON) and current_line() is None:
        expressions.called(f"print {argument}", gdb.execute)
        return
    answer = agent.call(Evaluate(argument.removeprefix(_PYTHON)))
    if answer.text is None:
        raise UsageError(answer.problem)
    terminal.write(answer.text)

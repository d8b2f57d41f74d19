"""What debugpy is sent for a line: one condition, of all the breakpoints that are there."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from pyharness.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyharness.debugger.breakpoint import Breakpoint
    from pyharness.model.dap_message import Message

_DUE = "__import__('pyharness.debuggee.hit_counts', fromlist=['due']).due"
_LOGGED = "__import__('pyharness.debuggee.log_points', fromlist=['logged']).logged"
_BRACES = re.compile(r"\{([^{}]+)\}")


def source_breakpoint(line: int, there: Sequence[Breakpoint]) -> Message:
    """debugpy's ``SourceBreakpoint`` for what is wanted at a line."""
    condition = condition_of(there)
    return {"line": line, **({"condition": condition} if condition else {})}


def condition_of(there: Sequence[Breakpoint]) -> str:
    """When debugpy stops there: each breakpoint is asked, so that each counts its hits and each log point prints."""
    conditions = [_logs(each) if each.log else _stops(each) for each in there]
    if len(conditions) == 1:
        return conditions[0]
    return f"any([{', '.join(f'({each or True})' for each in conditions)}])"


def _stops(stop: Breakpoint) -> str:
    condition, hits = stop.where.condition, stop.where.hits
    return f"(\n{condition or True}\n) and {_DUE}({stop.number}, {hits!r})" if hits else condition


def _logs(point: Breakpoint) -> str:
    texts, values = message_parts(point.log)
    condition = point.where.condition
    holds = f"lambda: (\n{condition or True}\n)"
    asked = "".join(f", lambda: (\n{value}\n)" for value in values)
    return f"{_LOGGED}({point.number}, {point.where.hits!r}, {condition!r}, {holds}, {texts!r}{asked})"


def message_parts(message: str) -> tuple[list[str], list[str]]:
    """The texts of a log message, and the expressions in braces between them."""
    parts = _BRACES.split(message)
    return parts[::2], parts[1::2]


def check_message(message: str) -> None:
    """``UsageError`` where an expression of a log message at a line of Python is none."""
    for value in message_parts(message)[1]:
        _check_value(value)


def _check_value(value: str) -> None:
    try:
        ast.parse(value.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise UsageError(f"{{{value}}} in the log message is no Python expression.", "Write {EXPRESSION}.") from error

"""What debugpy is sent for a line: one condition, of all the breakpoints that are there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.conditions import log_message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyharness.dapwire.message import Message
    from pyharness.debugger.breakpoint import Breakpoint

_DUE = "__import__('pyharness.debuggee.pydevd.hit_counts', fromlist=['due']).due"
_LOGGED = "__import__('pyharness.debuggee.pydevd.log_points', fromlist=['logged']).logged"


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
    texts, values = log_message.parts(point.log)
    condition = point.where.condition
    holds = f"lambda: (\n{condition or True}\n)"
    asked = "".join(f", lambda: {log_message.python_of(value) or repr('<no Python>')}" for value in values)
    return f"{_LOGGED}({point.number}, {point.where.hits!r}, {condition!r}, {holds}, {texts!r}{asked})"

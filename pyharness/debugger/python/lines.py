"""What debugpy is sent for a line: one condition, of all the breakpoints that are there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.protocol.pydevd import AtLine, Wanted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyharness.dapwire.message import Message
    from pyharness.debugger.breaking.breakpoint import Breakpoint


def source_breakpoint(line: int, there: Sequence[Breakpoint]) -> Message:
    """debugpy's ``SourceBreakpoint`` for what is wanted at a line."""
    condition = condition_of(there)
    return {"line": line, **({"condition": condition} if condition else {})}


def condition_of(there: Sequence[Breakpoint]) -> str:
    """When debugpy stops there: each breakpoint is asked, so that each counts its hits and each log point prints."""
    return AtLine(
        tuple(
            Wanted(each.number, where.condition, where.hits, each.log, where.function, _frame(each))
            for each, where in ((each, each.where) for each in there)
        )
    ).to_condition()


def _frame(breakpoint_: Breakpoint) -> int:
    return (breakpoint_.within and breakpoint_.within.debugpy) or 0

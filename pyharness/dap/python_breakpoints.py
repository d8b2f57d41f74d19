"""Breakpoints that debugpy tests by itself, as they are sent to it: lines of Python files, and functions by name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyharness.model.code_lines import check_line
from pyharness.model.errors import UsageError
from pyharness.model.hit_condition import checked
from pyharness.model.regular_file import read_text
from pyharness.model.where import check_python

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyharness.dap.arguments import Arguments
    from pyharness.dap.session import Session
    from pyharness.model.dap_wire import Message

_DUE = "__import__('pyharness.debuggee.hit_counts', fromlist=['due']).due"
_AT_FUNCTION = "function breakpoint"
_NAME = re.compile(r"(?:py:)?([^\W\d]\w*)")


class PythonLines:
    """Makes of a client's breakpoints what debugpy understands; those that stay keep their count."""

    def __init__(self, number: Callable[[], int]) -> None:
        self._number = number
        self._counters: dict[str, dict[tuple[int, str, str], int]] = {}

    def entries(self, path: str, wanted: Sequence[Arguments]) -> list[Message | UsageError]:
        """What to send for each breakpoint of a file, or what is wrong with it."""
        before, self._counters[path] = self._counters.get(path, {}), {}
        return [self._entry(path, each, before) for each in wanted]

    def _entry(self, path: str, asked: Arguments, before: dict[tuple[int, str, str], int]) -> Message | UsageError:
        line, log = asked.integer("line"), asked.text("logMessage", "")
        try:
            check_line(line)
            condition, hits = checked_condition(asked), checked(asked.text("hitCondition", ""))
        except UsageError as error:
            return error
        if hits:
            key = line, condition, hits
            counter = self._counters[path][key] = before.get(key) or self._number()
            condition = f"(\n{condition or True}\n) and {_DUE}({counter}, {hits!r})"
        entry: Message = {"line": line}
        return {**entry, **({"condition": condition} if condition else {}), **({"logMessage": log} if log else {})}


def checked_condition(asked: Arguments) -> str:
    """The condition in Python; ``UsageError`` where it is none."""
    condition = asked.text("condition", "").strip()
    if condition:
        check_python(condition)
    return condition


def function_name(name: str) -> str:
    """The Python functions that a function breakpoint means, else empty: debugpy knows them by their bare names."""
    found = _NAME.fullmatch(name)
    return found[1] if found else ""


def is_at_its_start(file: str | None, line: int | None, function: str) -> bool:
    """Whether a line is the one where a thread stands that has just been called."""
    try:
        lines = read_text(file or "").split("\n")
    except OSError:
        return False
    text = lines[line - 1] if line and 0 < line <= len(lines) else ""
    return re.match(rf"\s*(@|(async\s+)?def\s+{re.escape(function)}\b)", text) is not None


def is_printed(session: Session, event: Message | None) -> bool:
    """Whether debugpy only prints something (log points), which the client then gets.

    A stop at a function that was named becomes a breakpoint like others; a condition that raised is the stop's, too.
    """
    kind, body = (event["event"], event.get("body") or {}) if event else ("", {})
    if kind == "stopped" and body.get("reason") == _AT_FUNCTION:
        body["reason"] = "breakpoint"
    if kind == "output" and body.get("category") != "telemetry":
        session.say(body.get("output", ""), category=body.get("category", "console"))
    return kind == "output" and not body.get("data")

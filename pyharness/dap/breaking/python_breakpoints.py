"""What a client says of breakpoints in Python: conditions, and functions by name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyharness.host.regular_file import read_text
from pyharness.model.where import check_python

if TYPE_CHECKING:
    from pyharness.dap.arguments import Arguments

_NAME = re.compile(r"(?:py:)?([^\W\d]\w*)")


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

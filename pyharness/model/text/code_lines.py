"""Which lines of a source can be stopped at: those that it has, and of Python those that have code."""

from __future__ import annotations

import dis
from types import CodeType
from typing import TYPE_CHECKING

from pyharness.model.errors import UsageError
from pyharness.model.text.python_code import compiled
from pyharness.model.text.source_line import python_source

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST = (1 << 31) - 1
"""What debuggers count lines with; they would go on at 0 behind it."""


def check_line(line: int) -> None:
    """Raise ``UsageError`` for what is no line of any file."""
    if not 0 < line <= _MOST:
        raise UsageError(f"There is no line {line}.", "Lines are counted from 1.")


def check_in_file(file: str, line: int) -> None:
    """Raise ``UsageError`` where ``file`` can be read and ends before ``line``."""
    count = line_count(file)
    if count is not None and line > count:
        raise UsageError(
            f"There is no line {line}: {file} has {count} lines.",
            "Another file of this name is named by more of its path.",
        )


def line_count(file: str) -> int | None:
    """How many lines a file has; ``None`` where it cannot be read."""
    try:
        return len(python_source(file).splitlines())
    except (OSError, ValueError):
        return None


def executable_line(file: str, line: int) -> int:
    """The first line of Python at or after ``line`` that has code, as debuggers slide; an error where there is none."""
    check_line(line)
    lines = runnable_lines(file)
    if not lines:
        return line
    after = [number for number in lines if number >= line]
    if not after:
        raise UsageError(f"{file}:{line} is after the last line of code ({lines[-1]}).", "Name a line with code.")
    return after[0]


def runnable_lines(file: str) -> list[int]:
    """The lines of ``file`` on which a tracer can stop, in order; none where it cannot be read or compiled."""
    try:
        code = compiled(python_source(file), file)
    except (OSError, SyntaxError, ValueError, MemoryError, RecursionError):
        return []
    return sorted({line for each in _all_code(code) for line in code_lines(each)})


def function_lines(file: str, line: int) -> list[int]:
    """The lines of the innermost function that has ``line``, in order; none where the file cannot be compiled."""
    try:
        code = compiled(python_source(file), file)
    except (OSError, SyntaxError, ValueError, MemoryError, RecursionError):
        return []
    having = [lines for each in _all_code(code) if line in (lines := code_lines(each))]
    return sorted(having[-1]) if having else []


def code_lines(code: CodeType) -> set[int]:
    """The lines of one code object, nested functions aside."""
    if not hasattr(code, "co_lines"):  # CPython 3.9
        return {line for _, line in dis.findlinestarts(code)}
    return {line for _, _, line in code.co_lines() if line}


def _all_code(code: CodeType) -> Iterator[CodeType]:
    """A code object, and those within it, each behind the one that it lies in."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _all_code(constant)

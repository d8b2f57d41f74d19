"""Which lines of Python have code: where a debugger can stop."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType


def runnable_lines(file: str) -> list[int]:
    """The lines of ``file`` on which a tracer can stop, in order; none where it cannot be read or compiled."""
    try:
        code = compile(Path(file).read_bytes(), file, "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError):
        return []
    return sorted(set(_all_lines(code)))


def code_lines(code: CodeType) -> set[int]:
    """The lines of one code object, nested functions aside."""
    return {line for _, _, line in code.co_lines() if line}


def _all_lines(code: CodeType) -> Iterator[int]:
    yield from code_lines(code)
    for constant in code.co_consts:
        if hasattr(constant, "co_lines"):
            yield from _all_lines(constant)

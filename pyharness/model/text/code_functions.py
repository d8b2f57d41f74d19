"""The functions of a Python file by their names, and the line where each begins."""

from __future__ import annotations

from types import CodeType
from typing import TYPE_CHECKING

from pyharness.host.regular_file import read_regular
from pyharness.model.frozen import frozen
from pyharness.model.text.code_lines import code_lines

if TYPE_CHECKING:
    from collections.abc import Iterator


@frozen
class CodeFunction:
    """One function of a file."""

    name: str
    """With the classes and functions that it lies in: ``Net.forward``."""
    first: int
    """The line that it is written from, decorators included."""
    line: int
    """The first line of its body."""


def functions_of(file: str) -> list[CodeFunction]:
    """The functions of a file, in order; none where it cannot be compiled. Lambdas and the like are left out."""
    try:
        code = compile(read_regular(file), file, "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError, MemoryError, RecursionError):
        return []
    return list(_within(code, ""))


def _within(code: CodeType, prefix: str) -> Iterator[CodeFunction]:
    for each in code.co_consts:
        if isinstance(each, CodeType) and not each.co_name.startswith("<"):
            name = f"{prefix}{each.co_name}"
            if _is_function(each):
                body = [line for line in code_lines(each) if line > each.co_firstlineno]
                yield CodeFunction(name, each.co_firstlineno, min(body, default=each.co_firstlineno))
            yield from _within(each, f"{name}.")


def _is_function(code: CodeType) -> bool:
    """Whether it is no class's body: that has no locals of its own that are kept in slots."""
    return bool(code.co_flags & _OPTIMIZED)


_OPTIMIZED = 0x1
"""``CO_OPTIMIZED``."""

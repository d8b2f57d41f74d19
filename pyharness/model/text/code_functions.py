"""The functions of a Python file by their names, and the line where each begins."""

from __future__ import annotations

import ast
import sys
from types import CodeType
from typing import TYPE_CHECKING

from pyharness.model.errors import UsageError, nearest
from pyharness.model.frozen import frozen
from pyharness.model.text.code_lines import code_lines
from pyharness.model.text.python_code import compiled
from pyharness.model.text.source_line import python_source

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST = 8
_WRITTEN = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


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
        return _functions(file)
    except (OSError, SyntaxError, ValueError, MemoryError, RecursionError):
        return []


def _functions(file: str) -> list[CodeFunction]:
    return list(_within(compiled(python_source(file), file), ""))


def lines_of_function(file: str, line: int) -> tuple[int, int] | None:
    """From where to where the innermost function or class is written that has a line, or the file where none has.

    ``None`` where the file cannot be read as Python.
    """
    try:
        source = python_source(file)
        module = ast.parse(source)
    except (OSError, SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    functions = [each for each in ast.walk(module) if isinstance(each, _WRITTEN)]
    extents = [
        (min([each.lineno, *(one.lineno for one in each.decorator_list)]), each.end_lineno or each.lineno)
        for each in functions
    ]
    around = [(first, last) for first, last in extents if first <= line <= last]
    return max(around, default=(1, source.count(b"\n") + 1))


def function_in(file: str, name: str) -> CodeFunction:
    """The function of a file that has ``name``, with as many of the names around it as are needed.

    ``UsageError`` where there is none, with the nearest names, or more than one.
    """
    try:
        functions = _functions(file)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        ours = "{}.{}".format(*sys.version_info)
        raise UsageError(
            f"{file} is not looked through for {name!r}: Python {ours}, which runs us, cannot compile it ({error}).",
            "Where the program's Python can, name a line: py:FILE:LINE.",
        ) from error
    except OSError:
        functions = []
    exact = [each for each in functions if each.name == name]
    found = exact or [each for each in functions if each.name.endswith(f".{name}")]
    if not found:
        names = [each.name for each in functions]
        remedy = nearest(name, names) or (f"It has {', '.join(names[:_MOST])}." if names else "Name a line of it.")
        raise UsageError(f"{file} has no function {name!r}.", remedy)
    if len(found) > 1:
        listed = "\n".join(f"  {each.line}  {each.name}" for each in found[:_MOST])
        raise UsageError(f"Several functions of {file} are called {name!r}:\n{listed}", "Name one by its line.")
    return found[0]


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

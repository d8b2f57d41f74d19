"""Reads the source of a transform, and of what it calls in the user's own files, for uses of a set's order."""

from __future__ import annotations

import ast
import inspect
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from pyharness.fx.hashseeds.sets import Sets
from pyharness.fx.hashseeds.uses import uses
from pyharness.host.regular_file import read_regular
from pyharness.model.user_code import is_user_python

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.results.determinism import SetIteration

_MOST = 2000
"""Functions that are followed."""


def set_iterations(function: Any) -> tuple[list[SetIteration], list[str]]:
    """Where ``function``, and what it calls, uses the order of a set; and what could not be read."""
    found: dict[tuple[str, int, str], SetIteration] = {}
    notes: dict[str, None] = {}
    for each in _reached(function):
        code = each.__code__
        tree = _tree(code.co_filename)
        definition = _definition(tree, code) if tree else None
        if tree is None or definition is None:
            notes[f"the source of {each.__qualname__} cannot be read"] = None
            continue
        for use in uses(definition, _sets(tree).within(definition), code.co_filename):
            found[use.file, use.line, use.text] = use
    return sorted(found.values(), key=lambda use: (use.file, use.line)), list(notes)


def _reached(function: Any) -> Iterator[FunctionType]:
    """User functions that can be called from ``function``, by the names that its code mentions."""
    waiting: list[Any] = [function]
    seen: set[int] = set()
    while waiting and len(seen) < _MOST:
        thing = waiting.pop()
        for each in _functions(thing):
            if id(each) in seen or not is_user_python(each.__code__.co_filename):
                continue
            seen.add(id(each))
            yield each
            waiting += _mentioned(each)


def _functions(thing: Any) -> Iterator[FunctionType]:
    """The function itself; of a class its methods; of a wrapper what it wraps; of an object its call."""
    if isinstance(thing, type):
        for value in vars(thing).values():
            yield from _functions(getattr(value, "__func__", getattr(value, "fget", value)) or value)
        return
    thing = inspect.unwrap(thing) if callable(thing) else thing
    thing = getattr(thing, "_function", None) or getattr(thing, "func", thing)
    if isinstance(thing, FunctionType):
        yield thing
    elif callable(thing) and isinstance(vars(type(thing)).get("__call__"), FunctionType):
        yield from _functions(type(thing))


def _mentioned(function: FunctionType) -> Iterator[Any]:
    names = list(_names(function.__code__))
    for name in names:
        value = function.__globals__.get(name)
        if isinstance(value, ModuleType):
            yield from (getattr(value, each) for each in names if callable(getattr(value, each, None)))
        elif callable(value):
            yield value
    yield from filter(callable, inspect.getclosurevars(function).nonlocals.values())


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


@cache
def _sets(tree: ast.Module) -> Sets:
    return Sets(tree)


@cache
def _tree(file: str) -> ast.Module | None:
    try:
        return ast.parse(read_regular(file))
    except (OSError, SyntaxError, ValueError):
        return None


def _definition(tree: ast.Module, code: CodeType) -> ast.AST | None:
    for each in ast.walk(tree):
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            first = min([each.lineno, *(d.lineno for d in getattr(each, "decorator_list", []))])
            if first == code.co_firstlineno and getattr(each, "name", "<lambda>") == code.co_name:
                return each
    return None

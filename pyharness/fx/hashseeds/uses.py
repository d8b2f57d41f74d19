"""Where a function's source lets the order of a set decide something."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from pyharness.fx.hashseeds.sets import called
from pyharness.model.results.determinism import SetIteration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.fx.hashseeds.sets import Sets

_ORDERED = frozenset(
    {
        "list",
        "tuple",
        "iter",
        "enumerate",
        "zip",
        "map",
        "filter",
        "reversed",
        "deque",
        "OrderedDict",
        "reduce",
        "chain",
    }
)
"""Calls whose result, or whose side effects, come in the order of what they are given."""
_ORDERED_METHODS = frozenset({"extend", "join", "fromkeys", "from_iterable", "writelines"})
_UNORDERED = frozenset({"sorted", "set", "frozenset", "any", "all", "sum", "min", "max", "len", "Counter"})
"""Calls that give the same in any order; a generator inside them is no matter."""
_LONGEST = 60


def uses(function: ast.AST, sets: Sets, file: str) -> Iterator[SetIteration]:
    """Each place in ``function``; ``sets`` knows its names."""
    name = getattr(function, "name", "a lambda")
    quiet = set(_quiet(function))
    for node in ast.walk(function):
        for value, how in _ordered(node, quiet):
            if sets.is_set(value):
                text = ast.unparse(value)
                text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
                yield SetIteration(file, value.lineno, name, text, how, _remedy(how, text))


def _quiet(function: ast.AST) -> Iterator[ast.AST]:
    """Generators and calls whose order is no matter to the call that they are in."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and called(node) in _UNORDERED:
            yield from (each for each in node.args if isinstance(each, (ast.GeneratorExp, ast.ListComp, ast.Call)))


def _ordered(node: ast.AST, quiet: set[ast.AST]) -> Iterator[tuple[ast.expr, str]]:
    """What ``node`` takes in order, and how."""
    if isinstance(node, (ast.For, ast.AsyncFor)):
        yield node.iter, "a for loop"
    elif isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.DictComp)) and node not in quiet:
        yield from ((each.iter, "a comprehension") for each in node.generators)
    elif isinstance(node, ast.Starred):
        yield node.value, "unpacking"
    elif isinstance(node, ast.YieldFrom):
        yield node.value, "yield from"
    elif isinstance(node, ast.Assign) and any(isinstance(target, (ast.Tuple, ast.List)) for target in node.targets):
        yield node.value, "unpacking"
    elif isinstance(node, ast.Call) and node not in quiet:
        yield from _of_call(node)


def _of_call(call: ast.Call) -> Iterator[tuple[ast.expr, str]]:
    name = called(call)
    is_method = isinstance(call.func, ast.Attribute)
    if name in _ORDERED or (is_method and name in _ORDERED_METHODS):
        yield from ((each, f"{name}()") for each in call.args)
    if isinstance(call.func, ast.Attribute) and name == "pop" and not call.args:
        yield call.func.value, "pop()"


def _remedy(how: str, text: str) -> str:
    if how == "pop()":
        return f"Keep it in a dict or a list: {text}.pop() takes any element."
    return f"Write sorted({text}), or build it with dict.fromkeys(...), which keeps the order of insertion."

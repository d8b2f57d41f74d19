"""Notes where the order of a set decides something, in the user's own files, while a transform runs.

Those files are compiled with a call around each expression whose order counts: ``for x in noted(names, ...)``. So a
set is known by its type, wherever it comes from.
"""

from __future__ import annotations

import ast
import builtins
from importlib.machinery import SourceFileLoader
from typing import TYPE_CHECKING, Any, cast

from pyharness.host.regular_file import read_regular
from pyharness.model.results.determinism import SetIteration
from pyharness.model.text import python_code
from pyharness.model.user_code import is_user_python

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

_NOTED = "__pyharness_noted__"
"""The builtin that the compiled files call."""
_ORDERED = frozenset({"list", "tuple", "iter", "enumerate", "zip", "map", "filter", "reversed", "reduce", "chain"})
"""Calls whose result, or whose side effects, come in the order of what they are given."""
_ORDERED_CONTAINERS = frozenset({"deque", "OrderedDict"})
_ORDERED_METHODS = frozenset({"extend", "join", "fromkeys", "from_iterable", "writelines"})
_UNORDERED = frozenset({"sorted", "set", "frozenset", "any", "all", "sum", "min", "max", "len", "Counter"})
"""Calls that give the same in any order; a generator inside them is no matter."""
_LONGEST = 60


class SetUses:
    """Each place that a run came through: ``with`` it, of files that are imported after ``watch``."""

    def __init__(self) -> None:
        self.found: dict[SetIteration, None] = {}
        self._on = False

    def __enter__(self) -> None:
        self._on = True

    def __exit__(self, *_: object) -> None:
        self._on = False

    def watch(self) -> None:
        """Compile the user's files so from now on."""
        plain = SourceFileLoader.get_code

        def get_code(loader: SourceFileLoader, name: str) -> CodeType | None:
            file = str(loader.get_filename(name))
            return compiled(file) if is_user_python(file) else plain(loader, name)

        SourceFileLoader.get_code = get_code  # type: ignore[assignment]
        setattr(builtins, _NOTED, self._noted)

    def _noted(self, value: Any, *place: Any) -> Any:
        if self._on and isinstance(value, set | frozenset):
            self.found[SetIteration(*place)] = None
        return value


def compiled(file: str) -> CodeType:
    """The code of a file, with the calls in it; no cache has it. A file that only the compiler can read has none."""
    source = read_regular(file)
    try:
        tree = ast.parse(source, file)
        _Calls(tree, file).put_into(tree)
        code: CodeType = compile(tree, file, "exec", dont_inherit=True)
    except RecursionError:  # the compiler takes a longer sum from a text than from a tree
        return python_code.compiled(source, file)
    return code


class _Calls:
    def __init__(self, tree: ast.Module, file: str) -> None:
        quiet = set(_quiet(tree))
        self._places: dict[ast.AST, tuple[str | int, ...]] = {}
        for function in ast.walk(tree):  # inner ones come later: a place is the innermost one's
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                name = getattr(function, "name", "a lambda")
                for value, how in (each for node in ast.walk(function) for each in _ordered(node, quiet)):
                    text = ast.unparse(value)
                    text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
                    self._places[value] = file, value.lineno, name, text, how, _remedy(how, text)

    def put_into(self, tree: ast.Module) -> None:
        """Put each expression whose order counts into a call; no recursion, for a long sum is nested deeply."""
        for node in list(ast.walk(tree)):
            for name, value in ast.iter_fields(node):
                if isinstance(value, list):
                    value[:] = [self._within(each) for each in value]
                elif isinstance(value, ast.AST):
                    setattr(node, name, self._within(value))

    def _within(self, value: Any) -> Any:
        if not isinstance(value, ast.AST) or value not in self._places:
            return value
        name, place = ast.Name(_NOTED, ast.Load()), [ast.Constant(each) for each in self._places[value]]
        call = ast.Call(name, [cast("ast.expr", value), *place], [])
        for each in (name, *place, call):
            ast.copy_location(each, value)
        return call


def _quiet(tree: ast.AST) -> Iterator[ast.AST]:
    """Generators and calls whose order is no matter to the call that they are in."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node) in _UNORDERED:
            yield from (each for each in node.args if isinstance(each, ast.GeneratorExp | ast.ListComp | ast.Call))


def _ordered(node: ast.AST, quiet: set[ast.AST]) -> Iterator[tuple[ast.expr, str]]:
    """What ``node`` takes in order, and how."""
    if isinstance(node, ast.For):
        yield node.iter, "a for loop"
    elif isinstance(node, ast.ListComp | ast.GeneratorExp | ast.DictComp) and node not in quiet:
        yield from ((each.iter, "a comprehension") for each in node.generators)
    elif isinstance(node, ast.Starred) and isinstance(node.ctx, ast.Load):
        yield node.value, "unpacking"
    elif isinstance(node, ast.YieldFrom):
        yield node.value, "yield from"
    elif isinstance(node, ast.Assign) and any(isinstance(target, ast.Tuple | ast.List) for target in node.targets):
        yield node.value, "unpacking"
    elif isinstance(node, ast.Call) and node not in quiet:
        yield from _of_call(node)


def _of_call(call: ast.Call) -> Iterator[tuple[ast.expr, str]]:
    name = _called(call)
    is_method = isinstance(call.func, ast.Attribute)
    if name in _ORDERED | _ORDERED_CONTAINERS or (is_method and name in _ORDERED_METHODS):
        yield from ((each, f"{name}()") for each in call.args if not isinstance(each, ast.Starred))
    if isinstance(call.func, ast.Attribute) and name == "pop" and not call.args:
        yield call.func.value, "pop()"


def _called(call: ast.Call) -> str:
    """The last name of what is called."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _remedy(how: str, text: str) -> str:
    if how == "pop()":
        return f"Keep it in a dict or a list: {text}.pop() takes any element."
    return f"Write sorted({text}), or build it with dict.fromkeys(...), which keeps the order of insertion."

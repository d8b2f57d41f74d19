"""What the source of a function or class names: globals and closed-over variables."""

from __future__ import annotations

import ast
import inspect
import symtable
import sys
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


def named_in(source: str, value: Any) -> list[tuple[str, Any]]:
    """Each name that ``source``, that of ``value``, uses from around it, and what it stands for.

    Annotations aside: whoever copies the source leaves them unevaluated.
    """
    around = _around(value)
    names = dict.fromkeys(_names(ast.parse(source)))
    return [(name, around[name]) for name in names if name in around]


def _around(value: Any) -> dict[str, Any]:
    held = [value, inspect.unwrap(value)] if isinstance(value, FunctionType) else vars(value).values()
    functions = [each for each in held if isinstance(each, FunctionType)]
    found = dict(vars(sys.modules.get(value.__module__, sys)))
    for function in functions:
        found |= function.__globals__
    for function in functions:
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            if name != "__class__":
                found[name] = cell.cell_contents
    return found


def _names(tree: ast.AST) -> Iterator[str]:
    """What is neither assigned nor an argument where it is used."""
    plain = ast.unparse(_WithoutAnnotations().visit(tree))
    tables = [symtable.symtable(plain, "copied", "exec")]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        yield from (
            symbol.get_name()
            for symbol in table.get_symbols()
            if symbol.is_referenced() and (symbol.is_global() or not (symbol.is_local() or symbol.is_free()))
        )


class _WithoutAnnotations(ast.NodeTransformer):
    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(value=None)
        return self.generic_visit(node)

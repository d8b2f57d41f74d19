"""Reads what a Python file says without running it: calls, and the strings in them as far as they are written there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

UNKNOWN = "*"
"""Stands for a piece of a string that only running the file could tell; reads as a pattern for files."""
_JOINS = {"join", "abspath", "realpath", "normpath", "str", "Path", "resolve"}


class PythonFile:
    """A parsed file; ``ValueError`` where it is no Python."""

    def __init__(self, text: str) -> None:
        try:
            self.tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError) as error:
            raise ValueError(f"it is not Python: {error}") from error
        self._constants = {
            target.id: node.value
            for node in self.tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }

    def calls(self, *names: str) -> Iterator[ast.Call]:
        """Calls of functions by their last name, or by another that they were imported or assigned as, in order."""
        known = {*names, *self._aliases(names)}
        calls = [node for node in ast.walk(self.tree) if isinstance(node, ast.Call) and name_of(node.func) in known]
        yield from sorted(calls, key=lambda call: (call.lineno, call.col_offset))

    def _aliases(self, names: tuple[str, ...]) -> Iterator[str]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom):
                yield from (alias.asname for alias in node.names if alias.name in names and alias.asname)
            elif isinstance(node, ast.Assign) and any(name_of(part) in names for part in _choices(node.value)):
                yield from (target.id for target in node.targets if isinstance(target, ast.Name))

    def imports_from(self, module: str) -> set[str]:
        """The names that are imported from a module, and ``module`` itself where it is imported whole."""
        found = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                found |= {alias.name for alias in node.names if node.module == module}
                found |= {module for alias in node.names if f"{node.module}.{alias.name}" == module}
            elif isinstance(node, ast.Import):
                found |= {module for alias in node.names if alias.name == module or module.startswith(f"{alias.name}.")}
        return found

    def text(self, node: ast.expr | None) -> str:
        """A string as far as it is written; ``*`` where it is not."""
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else UNKNOWN
        if isinstance(node, ast.JoinedStr):
            return "".join(
                self.text(part.value if isinstance(part, ast.FormattedValue) else part) for part in node.values
            )
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Div):
            return ("/" if isinstance(node.op, ast.Div) else "").join((self.text(node.left), self.text(node.right)))
        if isinstance(node, ast.Call):
            return self._called(node)
        if isinstance(node, ast.Name) and node.id in self._constants:
            value = self._constants[node.id]
            return self.text(value) if isinstance(value, ast.Constant | ast.JoinedStr) else UNKNOWN
        return UNKNOWN

    def _called(self, node: ast.Call) -> str:
        """What joins parts of a path, or a function of theirs that finds a file by its name."""
        if name_of(node.func) in _JOINS and node.args:
            return "/".join(self.text(part) for part in node.args)
        is_lookup = len(node.args) == 1 and isinstance(node.args[0], ast.Constant)
        return f"{UNKNOWN}/{self.text(node.args[0])}" if is_lookup else UNKNOWN

    def texts(self, node: ast.expr | None) -> list[str]:
        """The strings of a list, or of one by its name."""
        if isinstance(node, ast.Name):
            node = self._constants.get(node.id)
        if isinstance(node, ast.List | ast.Tuple):
            return [self.text(part) for part in node.elts]
        return [self.text(node)] if isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp) else []


def name_of(node: ast.expr) -> str:
    """The last part of ``a.b.c``."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def argument(call: ast.Call, name: str, position: int) -> ast.expr | None:
    """An argument by its keyword, or its place."""
    by_name = next((one.value for one in call.keywords if one.arg == name), None)
    return by_name or (call.args[position] if len(call.args) > position else None)


def _choices(node: ast.expr) -> list[ast.expr]:
    """Both sides of ``a if condition else b``."""
    return [node.body, node.orelse] if isinstance(node, ast.IfExp) else [node]

"""Python statements as text no wider than a line should be."""

from __future__ import annotations

import ast
import re

WIDTH = 100
_INDENT = "    "


_QUOTED = re.compile(r"""(?<![\w"'])'([^'"\\\n]*)'(?!['"])""")


def double_quoted(text: str) -> str:
    """A string literal in double quotes, as formatters write it, where that needs no escape."""
    return _QUOTED.sub(r'"\1"', text)


def written(statement: ast.stmt, depth: int) -> list[str]:
    """Lines of ``statement``, indented ``depth`` times; calls and containers that are too long get a line a part."""
    text = ast.unparse(statement)
    margin = _INDENT * depth
    if len(margin) + len(text) <= WIDTH or "\n" in text:
        return [margin + line for line in text.split("\n")]
    if isinstance(statement, ast.Assign):
        head = f"{' = '.join(map(ast.unparse, statement.targets))} = "
        return _wrapped(head, statement.value, "", depth)
    if isinstance(statement, ast.Return) and statement.value is not None:
        return _wrapped("return ", statement.value, "", depth)
    if isinstance(statement, ast.Expr):
        return _wrapped("", statement.value, "", depth)
    return [margin + text]


def _wrapped(head: str, value: ast.expr, tail: str, depth: int) -> list[str]:
    margin = _INDENT * depth
    whole = f"{margin}{head}{ast.unparse(value)}{tail}"
    parts = _parts(value)
    if len(whole) <= WIDTH or parts is None:
        return [whole]
    opening, inside, closing = parts
    lines = [f"{margin}{head}{opening}"]
    for name, part in inside:
        lines += _wrapped(name, part, ",", depth + 1)
    return [*lines, f"{margin}{closing}{tail}"]


def _parts(value: ast.expr) -> tuple[str, list[tuple[str, ast.expr]], str] | None:
    """Opening, the parts with what stands before each, closing; ``None`` where nothing can be broken."""
    if isinstance(value, ast.Call) and (value.args or value.keywords):
        named = [(f"{each.arg}=" if each.arg else "**", each.value) for each in value.keywords]
        return f"{ast.unparse(value.func)}(", [("", each) for each in value.args] + named, ")"
    if isinstance(value, ast.Tuple | ast.List) and value.elts:
        opening, closing = ("(", ")") if isinstance(value, ast.Tuple) else ("[", "]")
        return opening, [("", each) for each in value.elts], closing
    if isinstance(value, ast.Dict) and value.keys and all(value.keys):
        keys = [f"{ast.unparse(key)}: " for key in value.keys if key]
        return "{", list(zip(keys, value.values, strict=True)), "}"
    return None

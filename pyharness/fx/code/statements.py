"""Which lines of a generated ``forward`` are the statement of which node."""

from __future__ import annotations

import ast
import re
import textwrap
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torch.fx import Node


class Span(NamedTuple):
    """First and last line of a statement, 1-based."""

    line: int
    end: int


Spans = list["Span | None"]
"""One for each node, in the graph's order; ``None`` where a node has no statement."""


def spans(text: str, nodes: Sequence[Node], line_map: dict[int, int | None] | None, prologue: int) -> Spans:
    """The statement of each of ``nodes`` in ``text``, which FX generated from them.

    ``line_map`` and ``prologue`` are what the code generator noted (``PythonCode._lineno_map``, ``_prologue_start``).
    Where it noted nothing (another torch, a body transformer that drops its marks), statements are found by the names
    they assign. An input without a statement is found in the signature's lines, else where its value is first there:
    on the first statement.
    """
    found: Spans = [None for _ in nodes]
    if line_map:
        found = _from_generator(text.split("\n"), nodes, line_map, prologue)
    if any(span is None and node.op != "placeholder" for span, node in zip(found, nodes, strict=True)):
        by_name = _by_name(text, nodes)
        found = [span or other for span, other in zip(found, by_name, strict=True)]
    return _with_inputs(found, nodes)


def spans_by_name(text: str, nodes: Sequence[Node]) -> Spans:
    """Statements found by the names that they assign alone: for a file that a user has edited."""
    return _with_inputs(_by_name(text, nodes), nodes)


def _with_inputs(found: Spans, nodes: Sequence[Node]) -> Spans:
    first = min((span.line for span in found if span), default=None)
    start = Span(first, first) if first else None
    return [span or (start if node.op == "placeholder" else None) for span, node in zip(found, nodes, strict=True)]


def _from_generator(lines: list[str], nodes: Sequence[Node], line_map: dict[int, int | None], prologue: int) -> Spans:
    # The generator numbers body lines before it strips the blank ones that lead.
    stripped = prologue + max(line_map) - len(lines)
    body = prologue + min(line_map)
    owned: list[list[int]] = [[] for _ in nodes]
    for key, index in line_map.items():
        line = prologue + key - stripped
        if index is not None and index < len(nodes) and body <= line <= len(lines) and lines[line - 1].strip():
            owned[index].append(line)
    found = [_statement(lines, mine, node) for mine, node in zip(owned, nodes, strict=True)]
    signature = range(prologue, body)
    inputs = [index for index, node in enumerate(nodes) if node.op == "placeholder" and found[index] is None]
    if len(signature) > 1 and inputs:
        bound = _names_bound(lines, signature)
        for index in inputs:
            found[index] = bound.get(nodes[index].name)
    return found


def _statement(lines: list[str], mine: list[int], node: Node) -> Span | None:
    """The statement of ``node`` among ``mine``, the lines that were generated for it."""
    for position, line in enumerate(mine):
        if _is_statement(lines[line - 1], node):
            later = mine[position + 1 :]
            return Span(line, _end(lines, line, later[-1]) if later else line)
    return None


_ASSIGNED = re.compile(r"(?:^|;)\s+(\w+) ?(?::(?!=).*?)?=(?!=)")
_SUFFIX = re.compile(r"_\d+$")


def _is_statement(text: str, node: Node) -> bool:
    stripped = text.lstrip()
    if node.op == "output":
        return stripped.startswith("return")
    if stripped.startswith((f"{node.name} = ", f"{node.name} : ", f"{node.name}: ")):
        return True
    # An in-place operator comes before its name (`x += 1;  iadd = x`); a name that meets a global's gets a number.
    return any(_same(name, node.name) for name in _ASSIGNED.findall(text))


def _same(name: str, other: str) -> bool:
    return name == other or _SUFFIX.sub("", name) == _SUFFIX.sub("", other)


def _end(lines: list[str], first: int, last: int) -> int:
    """Last line of the statement that starts at ``first``; it ends at ``last`` at the latest."""
    try:
        block = ast.parse(textwrap.dedent("\n".join(lines[first - 1 : last])))
    except SyntaxError:
        return first
    return first - 1 + (block.body[0].end_lineno or 1) if block.body else first


def _names_bound(lines: list[str], signature: range) -> dict[str, Span]:
    """Inputs that the lines after ``def`` unpack: ``x = next(args_iter)``, ``x, y, = fx_pytree...``."""
    bound: dict[str, Span] = {}
    for line in signature[1:]:
        names = lines[line - 1].partition(" = ")[0]
        for name in names.split(","):
            if name.strip():
                bound[name.strip()] = Span(line, line)
    return bound


def _by_name(text: str, nodes: Sequence[Node]) -> Spans:
    assigned, returned = _assignments(text)
    found = [returned if node.op == "output" else assigned.pop(node.name, None) for node in nodes]
    left: dict[str, list[Span]] = {}
    for name, span in assigned.items():
        left.setdefault(_SUFFIX.sub("", name), []).append(span)
    for index, node in enumerate(nodes):
        others = left.get(_SUFFIX.sub("", node.name))
        if found[index] is None and others and node.op != "placeholder":
            found[index] = others.pop(0)
    return found


def _assignments(text: str) -> tuple[dict[str, Span], Span | None]:
    """The first assignment to each name, and the last ``return``, in the function called ``forward``."""
    assigned: dict[str, Span] = {}
    returned: Span | None = None
    try:
        body = ast.parse(text).body
    except SyntaxError:  # compiling it will say so
        return assigned, returned
    functions = [each for each in body if isinstance(each, ast.FunctionDef) and each.name == "forward"]
    for statement in _statements(functions[-1].body if functions else []):
        span = Span(statement.lineno, statement.end_lineno or statement.lineno)
        if isinstance(statement, ast.Return):
            returned = span
        for name in _targets(statement):
            assigned.setdefault(name, span)
    return assigned, returned


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements in order of line, those inside ``with``, ``if`` and loops too."""
    for statement in body:
        yield statement
        for field in ("body", "handlers", "orelse", "finalbody"):
            yield from _statements(getattr(statement, field, []))


def _targets(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.AnnAssign) and statement.value is None:
        return
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        value = statement.value
        if isinstance(value, ast.Constant) and value.value is None:  # `x = None` frees a value, it makes none
            return
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            names = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
            yield from (name.id for name in names if isinstance(name, ast.Name))

"""Where a kernel computes an element of a node: its lines, and the round of the loops, as C++ over their variables."""

from __future__ import annotations

import ast
from itertools import product
from typing import TYPE_CHECKING

from pyharness.model.errors import HarnessError, nearest

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pyharness.model.kernel_frames import Standing
    from pyharness.model.kernel_map import Held, KernelLine

OPTIMIZED = (
    "This kernel of torch.compile's is optimized: its variables cannot be read, and lines run out of order. Begin with "
    "--debug-kernels (debug_kernels, debugKernels) for kernels as they are written."
)
_CXX: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "/", ast.Mod: "%"}
_LANES = 64
"""Lanes that a loop is looked at ahead where their number is known only as it runs."""


def nodes_of(standing: Standing, name: str) -> set[str]:
    """The kernel's node of that name, or all that a call of Dynamo's graph became."""
    nodes = standing.maps.nodes
    own = {node.name for node in nodes if node.name == name} or {node.name for node in nodes if node.captured == name}
    every = own or {node.name for node in nodes if node.assigned == name}
    read = {line.reads for line in standing.use.lines if line.reads}
    return every & (set(standing.use.nodes) | read)


def result_of(standing: Standing, nodes: Collection[str]) -> str:
    """The result of a call, of the nodes that it became: the last that a variable holds; empty for none."""
    held = {held.node for line in standing.use.lines for held in line.holds if held.node in nodes}
    ordered = [node.name for node in standing.maps.nodes if node.name in nodes]
    return next((name for name in reversed(ordered) if name in held), "")


def conditions_of(standing: Standing, node: str, element: Sequence[int]) -> dict[int, str]:
    """By the number of a line that computes an element: the condition on the loops' variables.

    ``HarnessError`` where no line computes it. Indices may count from the end.
    """
    name = result_of(standing, nodes_of(standing, node)) or node
    found = [(line, held) for line in standing.use.lines for held in line.holds if held.node == name]
    if not found:
        known = {held.node for line in standing.use.lines for held in line.holds}
        raise HarnessError(f"No line of this kernel computes {name!r}.", nearest(name, known) or _listed(standing))
    if len(found[0][1].element) != len(element):
        remedy = f"Give an index for each: element {_first_of(found[0][1])}"
        raise HarnessError(f"{name} has {len(found[0][1].element)} dimensions.", remedy)
    there = _counted(standing, name, element)
    try:
        return {line.line: _condition(line, held, there) for line, held in found}
    except ValueError as error:
        raise HarnessError(f"Where {name} is computed depends on data: {error}.", "Name another node.") from error


def _condition(line: KernelLine, held: Held, element: Sequence[int]) -> str:
    """One alternative for each lane that the element may be in."""
    variables = [variable for variable, _ in line.lanes]
    counts = [count for _, count in line.lanes]
    spans = [range(int(count) if count.isdecimal() else _LANES) for count in counts]
    alternatives = []
    for lane in product(*spans):
        ahead = dict(zip(variables, lane, strict=True))
        parts = [f"{as_cxx(index, ahead)} == {wanted}" for index, wanted in zip(held.element, element, strict=True)]
        open_ended = [(step, count) for step, count in zip(lane, counts, strict=True) if not count.isdecimal()]
        parts += [f"{step} < {as_cxx(count, {})}" for step, count in open_ended]
        alternatives.append(f"({' && '.join(parts)})" if parts else "true")
    return " || ".join(alternatives)


def _counted(standing: Standing, name: str, element: Sequence[int]) -> list[int]:
    """The indices from the first element on; ``HarnessError`` for one that the node's tensor does not have."""
    shape = next((node.shape for node in standing.maps.nodes if node.name == name), None)
    sizes = shape if shape is not None and len(shape) == len(element) else (None,) * len(element)
    if any(size is not None and not -size <= index < size for index, size in zip(element, sizes, strict=True)):
        shown = ", ".join("?" if size is None else str(size) for size in sizes)
        raise HarnessError(
            f"{name} is [{shown}]: it has no element {list(element)}.",
            "Indices are counted from 0, or from the end with -1.",
        )
    if any(size is None and index < 0 for index, size in zip(element, sizes, strict=True)):
        raise HarnessError(f"How long {name} is depends on the call: {list(element)} is not known.", "Count from 0.")
    return [index if index >= 0 else index + (size or 0) for index, size in zip(element, sizes, strict=True)]


def _listed(standing: Standing) -> str:
    """The nodes that elements can be asked of, and how."""
    held = {each.node: each for line in standing.use.lines for each in line.holds}
    if not held:
        return ""
    return f"It computes {', '.join(sorted(held)[:8])}. For example: element {_first_of(next(iter(held.values())))}"


def _first_of(held: Held) -> str:
    return f"{held.node}[{', '.join('0' for _ in held.element)}]"


def as_cxx(expression: str, ahead: dict[str, int]) -> str:
    """An index as C++, with some variables as many steps ahead; ``ValueError`` where it is none.

    Indices are not negative, so that both languages divide alike.
    """
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"{expression} is no index") from error
    return _cxx(tree, ahead)


def _cxx(tree: ast.expr, ahead: dict[str, int]) -> str:
    if isinstance(tree, ast.Constant) and isinstance(tree.value, int):
        return str(tree.value)
    if isinstance(tree, ast.Name):
        return f"({tree.id} + {ahead[tree.id]})" if ahead.get(tree.id) else tree.id
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        return f"(-{_cxx(tree.operand, ahead)})"
    if isinstance(tree, ast.BinOp) and type(tree.op) in _CXX:
        return f"({_cxx(tree.left, ahead)} {_CXX[type(tree.op)]} {_cxx(tree.right, ahead)})"
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and len(tree.args) == 2:
        left, right = (_cxx(each, ahead) for each in tree.args)
        sign = {"min": "<", "max": ">"}.get(tree.func.id)
        if sign:
            return f"({left} {sign} {right} ? {left} : {right})"
    raise ValueError(f"{ast.unparse(tree)} is no index")

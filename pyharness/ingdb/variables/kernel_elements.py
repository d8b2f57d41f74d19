"""Where a kernel computes an element of a node: its lines, and the round of the loops that gdb waits for."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from pyharness.ingdb.functions.kernel_build import OPTIMIZED
from pyharness.ingdb.variables.kernel_nodes import result_of
from pyharness.model.errors import HarnessError, nearest
from pyharness.model.kernel_text import as_cxx
from pyharness.protocol.mi import KernelLines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyharness.ingdb.variables.kernel_frame import KernelFrame
    from pyharness.model.kernel_frames import Standing
    from pyharness.model.kernel_map import Held, KernelLine

_LANES = 64
"""Lanes that a loop is looked at ahead where their number is known only as it runs."""


def lines_of_element(kernel: KernelFrame | None, node: str, element: Sequence[int]) -> KernelLines:
    """The lines that compute an element; ``HarnessError`` where none does. Indices may count from the end."""
    if kernel is None:
        raise HarnessError("This frame is in no kernel that torch.compile made.", "Step into one, or select its frame.")
    if kernel.is_optimized:
        raise HarnessError("Elements of an optimized kernel are not known.", OPTIMIZED)
    if len(kernel.standings) != 1:
        raise HarnessError("Which call of this kernel runs is not known here.", "Select the thread that called it.")
    standing = kernel.standings[0]
    name = result_of(standing, node) or node if node else _node_here(kernel, standing)
    found = [(line, held) for line in standing.use.lines for held in line.holds if held.node == name]
    if not found:
        known = {held.node for line in standing.use.lines for held in line.holds}
        raise HarnessError(f"No line of this kernel computes {name!r}.", nearest(name, known) or _listed(standing))
    if len(found[0][1].element) != len(element):
        remedy = f"Give an index for each: element {_first_of(found[0][1])}"
        raise HarnessError(f"{name} has {len(found[0][1].element)} dimensions.", remedy)
    there = _counted(standing, name, element)
    try:
        conditions = {str(line.line): _condition(line, held, there) for line, held in found}
    except ValueError as error:
        raise HarnessError(f"Where {name} is computed depends on data: {error}.", "Name another node.") from error
    return KernelLines(kernel.file, name, conditions)


def _node_here(kernel: KernelFrame, standing: Standing) -> str:
    """The node of the line that the frame stands at."""
    here = kernel.frame.find_sal().line
    found = next((line.node for line in standing.use.lines if line.line == here), None)
    if found is None:
        raise HarnessError("This line computes no node.", "Name one: element NODE[0, 0]")
    return found


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

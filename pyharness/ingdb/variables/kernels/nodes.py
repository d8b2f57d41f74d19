"""The value of a node in the kernel that computes it, for the element that is being computed."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.printers.of_torch.lanes import as_number, lanes_of
from pyharness.ingdb.printers.values import value_text
from pyharness.ingdb.variables.items import Item, Listed
from pyharness.ingdb.variables.kernels.buffers import buffer_named, number_named
from pyharness.model.kernel_elements import OPTIMIZED, nodes_of, result_of
from pyharness.model.kernel_text import computed, names_in, place_text
from pyharness.model.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.ingdb.variables.kernels.frame import KernelFrame
    from pyharness.model.kernel_frames import Standing
    from pyharness.model.kernel_map import Held, KernelLine

_MOST_LANES = 64
_NOT_KNOWN = f"<not known: {OPTIMIZED}>"
_MASKED = "<not of the node: for this element {} does not hold, or is not known here.>"
_SEVERAL = "<not known here: several calls of this kernel may run, and the thread has no Python that says which.>"


def node_named(kernel: KernelFrame, name: str) -> Item | None:
    """What a name of the graph is at this place; ``None`` where it is none of the kernel's.

    ``name`` is a node of the graph that was lowered, or the call that it came from, as Dynamo names that.
    """
    found = [(each, nodes) for each in kernel.standings if (nodes := nodes_of(each, name))]
    if not found:
        return None
    if len(kernel.standings) > 1:
        return Item(Variable(name, _SEVERAL))
    standing, nodes = found[0]
    lines = [(line, held) for line in standing.use.lines for held in line.holds if held.node in nodes]
    last = [(line, held) for line, held in lines if held.node == result_of(standing, nodes)]
    for line, held in last:
        if symbol := kernel.symbol(line):
            return _value(kernel, name, line, held, symbol[0].value(symbol[1]))
    return _read(kernel, standing, name, nodes) or Item(Variable(name, _why_not(kernel, nodes, last)))


def nodes_here(kernel: KernelFrame) -> Iterator[Item]:
    """The nodes whose values are computed at this place, in the order of the lines."""
    if len(kernel.standings) != 1:
        return
    for line in kernel.standings[0].use.lines:
        for held in line.holds:
            if symbol := kernel.symbol(line):
                yield _value(kernel, held.node, line, held, symbol[0].value(symbol[1]))


def element_here(kernel: KernelFrame) -> tuple[str, tuple[int, ...]] | None:
    """The node and the element that the frame's line works on; the nearest line's that says so, behind it first.

    Lines of the same node come before all others. A masked load begins outside of what it loads: that says nothing.
    """
    if len(kernel.standings) != 1:
        return None
    here = kernel.frame.find_sal().line
    lines = kernel.standings[0].use.lines
    own = {line.node for line in lines if line.line == here}
    holding = [line for line in lines if line.holds]
    for line in sorted(holding, key=lambda each: (each.node not in own, each.line < here, abs(each.line - here))):
        for held in line.holds:
            element = _element(kernel, held, {})
            if element and all(index >= 0 for index in element):
                return held.node, element
    return None


def index_named(kernel: KernelFrame, name: str) -> Item | None:
    """A variable of the loops, as the tensor's dimensions: ``x0 = 3 → add[0, 3]``."""
    uses = [held.element for each in kernel.standings for line in each.use.lines for held in line.holds]
    if not any(name in names_in(index) for element in uses for index in element):
        return None
    if kernel.is_optimized:
        return Item(Variable(name, _NOT_KNOWN))
    value = kernel.value(name)
    if value is None or value.type.strip_typedefs().code != gdb.TYPE_CODE_INT:
        return None
    at = element_here(kernel)
    shown = f" → {at[0]}{list(at[1])}: {place_text(at[1])}" if at else ""
    return Item(Variable(name, f"{int(value)}{shown}", str(value.type), evaluate=name))


def _read(kernel: KernelFrame, standing: Standing, name: str, nodes: set[str]) -> Item | None:
    """A node that the kernel only loads is a whole tensor already: the buffer that it is loaded from."""
    if nodes & set(standing.use.nodes):
        return None
    taken = {each.name for each in kernel.parameters if each.is_buffer}
    texts = (kernel.text[line.line - 1] for line in standing.use.lines if line.reads in nodes)
    loaded = {word for text in texts for word in re.findall(r"\w+", text)} & taken
    found = buffer_named(kernel, loaded.pop()) if len(loaded) == 1 else None
    if found is None:
        return None
    overwritten = " <the kernel writes to it in place: elements that are done have their new values>"
    text = found.variable.value + overwritten * found.variable.name.startswith("in_out")
    return Item(replace(found.variable, name=name, value=text), found.content)


def _why_not(kernel: KernelFrame, nodes: set[str], lines: list[tuple[KernelLine, Held]]) -> str:
    if kernel.is_optimized:
        return _NOT_KNOWN
    here = kernel.frame.find_sal().line
    behind = sorted({line.line for line, _ in lines if line.line >= here})
    if behind:
        return f"<not computed yet: line {behind[0]} does that.>"
    if lines:
        return f"<not known at this line: lines {', '.join(str(line.line) for line, _ in lines[:4])} compute it.>"
    return f"<{', '.join(sorted(nodes))}: no variable of this kernel holds it; a reduction is whole behind its loop.>"


def _value(kernel: KernelFrame, name: str, line: KernelLine, held: Held, value: gdb.Value) -> Item:
    if value.is_optimized_out:
        return Item(Variable(name, "<not known: the compiler keeps it nowhere here.>", str(value.type)))
    lanes = lanes_of(value)
    first = _element(kernel, held, {})
    if not lanes and not all(_mask(kernel, line, 1) or [False]):
        return Item(Variable(name, _MASKED.format(line.mask), str(value.type)))
    if not lanes:
        at = f"  {held.node}{list(first)}" if first is not None else ""
        words = f" ({place_text(first)})" if first else ""
        return Item(Variable(name, f"{value_text(as_number(value))}{at}{words}", str(value.type)))
    places = _lanes(kernel, line)
    if places is None or len(places) > len(lanes):
        return Item(Variable(name, f"{value_text(value)}  <which lanes count is not known>", str(value.type)))
    counted = [(_element(kernel, held, place), lanes[index]) for index, place in enumerate(places)]
    counts = _mask(kernel, line, len(counted))
    if counts is None:
        return Item(Variable(name, _MASKED.format(line.mask), str(value.type)))
    items = [
        Item(Variable(f"{held.node}{_text(at)}", value_text(lane) if of_node else "—"))
        for (at, lane), of_node in zip(counted, counts, strict=True)
    ]
    shown = ", ".join(item.variable.value for item in items)
    along = " and ".join(variable for variable, _ in line.lanes)
    span = f"{held.node}{_text(counted[0][0])} to {_text(counted[-1][0])}, along {along}"
    return Item(Variable(name, f"[{shown}]  {span}", str(value.type)), Listed(items))


def _mask(kernel: KernelFrame, line: KernelLine, count: int) -> list[bool] | None:
    """For each lane, whether its element is one of the node's; ``None`` where that cannot be told."""
    if line.mask is None:
        return [True] * count
    value = kernel.value(line.mask)
    if value is None:
        return None
    lanes = lanes_of(value) or [value] * count
    return [bool(lane) for lane in lanes[:count]] if len(lanes) >= count else None


def _text(element: tuple[int, ...] | None) -> str:
    return str(list(element)) if element is not None else "[?]"


def _lanes(kernel: KernelFrame, line: KernelLine) -> list[dict[str, int]] | None:
    """For each lane that counts, how far its loop's variables are ahead; ``None`` where that cannot be told."""
    try:
        counts = [computed(count, lambda name: _number(kernel, name)) for _, count in line.lanes]
    except ValueError:
        return None
    if not counts or any(not 0 < count <= _MOST_LANES for count in counts):
        return None
    variables = [variable for variable, _ in line.lanes]
    return [dict(zip(variables, offsets, strict=True)) for offsets in product(*map(range, counts))]


def _element(kernel: KernelFrame, held: Held, ahead: dict[str, int]) -> tuple[int, ...] | None:
    """The index in each dimension; ``None`` where a variable of it is not to be had."""
    try:
        return tuple(computed(index, lambda name: _number(kernel, name) + ahead.get(name, 0)) for index in held.element)
    except ValueError:
        return None


def _number(kernel: KernelFrame, name: str) -> int:
    value = kernel.value(name)
    if value is None:
        return number_named(kernel, name)
    if value.type.strip_typedefs().code != gdb.TYPE_CODE_INT:
        raise ValueError(f"{name} is no index")
    return int(value)

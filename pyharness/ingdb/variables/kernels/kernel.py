"""What a name means in a kernel of inductor's beyond C++: nodes, buffers and indices."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyharness.ingdb.variables.items import Item, Listed
from pyharness.ingdb.variables.kernels.buffers import buffer_named, buffers
from pyharness.ingdb.variables.kernels.frame import kernel_frame
from pyharness.ingdb.variables.kernels.nodes import element_here, index_named, node_named, nodes_here
from pyharness.model.kernel_text import place_text
from pyharness.model.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    import gdb

    from pyharness.ingdb.variables.kernels.frame import KernelFrame

_NAME = re.compile(r"[^\W\d]\w*")


def kernel_item(expression: str, frame: gdb.Frame) -> Item | None:
    """What a name means; ``None`` for every other expression, and where the frame is in no kernel."""
    if not _NAME.fullmatch(expression.strip()) or (kernel := kernel_frame(frame)) is None:
        return None
    name = expression.strip()
    return node_named(kernel, name) or buffer_named(kernel, name) or index_named(kernel, name)


def kernel_scopes(frame: gdb.Frame) -> Iterator[tuple[str, Listed]]:
    """Groups of variables of a kernel's frame: the element and the nodes that are computed, and the buffers."""
    kernel = kernel_frame(frame)
    if kernel is None:
        return
    if items := [*_element(kernel), *nodes_here(kernel)]:
        yield "Nodes", Listed(items)
    if items := list(buffers(kernel)):
        yield "Buffers", Listed(items)


def _element(kernel: KernelFrame) -> Iterator[Item]:
    if at := element_here(kernel):
        yield Item(Variable("element", f"{at[0]}{list(at[1])}: {place_text(at[1])}"))

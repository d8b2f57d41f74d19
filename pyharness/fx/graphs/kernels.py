"""The kernels that inductor made of a graph, as a drawing has them: each call with the nodes that it computes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyharness.model.graph import KernelBox, KernelNode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.kernel_files import Wrapper
    from pyharness.model.kernel_map import KernelUse

_CALL = re.compile(r"\s*(\w+)\(")


def boxes_of(wrapper: Wrapper, text: str) -> tuple[KernelBox, ...]:
    """A box for each call of a kernel in a wrapper, whose text is given, in order.

    None where nobody mapped it, nor for a kernel that computes no node: one that copies weights to other strides.
    """
    waiting = {kernel.name: _calls(wrapper, kernel.name) for kernel in wrapper.kernels}
    called = (found[1] for line in text.split("\n") if (found := _CALL.match(line)) and found[1] in waiting)
    boxes = (next(waiting[name], None) for name in called)
    return tuple(box for box in boxes if box is not None and box.nodes)


def _calls(wrapper: Wrapper, name: str) -> Iterator[KernelBox]:
    kernel = next(each for each in wrapper.kernels if each.name == name)
    found = wrapper.map_of(kernel)
    uses = found.uses if found else ()
    for call, use in enumerate(uses, 1):
        yield KernelBox(name, kernel.file, call, len(uses), tuple(_nodes(use, kernel.before)))


def _nodes(use: KernelUse, before: int) -> Iterator[KernelNode]:
    for name in use.nodes:
        lines = [each for each in use.lines if each.node == name]
        numbers = tuple(each.line + before for each in lines)
        yield KernelNode(name, any(each.kind == "store" for each in lines), numbers)

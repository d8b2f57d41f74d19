"""Where the kernel that a frame is in computes an element of a node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.errors import HarnessError
from pyharness.model.kernel_elements import OPTIMIZED, conditions_of
from pyharness.protocol.mi import KernelLines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyharness.ingdb.variables.kernels.frame import KernelFrame
    from pyharness.model.kernel_frames import Standing


def lines_of_element(kernel: KernelFrame | None, node: str, element: Sequence[int]) -> KernelLines:
    """The lines that compute an element; ``HarnessError`` where none does. Indices may count from the end."""
    if kernel is None:
        raise HarnessError("This frame is in no kernel that torch.compile made.", "Step into one, or select its frame.")
    if kernel.is_optimized:
        raise HarnessError("Elements of an optimized kernel are not known.", OPTIMIZED)
    if len(kernel.standings) != 1:
        raise HarnessError("Which call of this kernel runs is not known here.", "Select the thread that called it.")
    standing = kernel.standings[0]
    conditions = conditions_of(standing, node or _node_here(kernel, standing), element)
    return KernelLines(kernel.file, {str(line): condition for line, condition in conditions.items()})


def _node_here(kernel: KernelFrame, standing: Standing) -> str:
    """The node of the line that the frame stands at."""
    here = kernel.frame.find_sal().line
    found = next((line.node for line in standing.use.lines if line.line == here), None)
    if found is None:
        raise HarnessError("This line computes no node.", "Name one: element NODE[0, 0]")
    return found

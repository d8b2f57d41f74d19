"""Reads the elements that a person looks at from memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.tensors.dtypes import BY_NAME
from pyharness.model.tensors.elements import EDGE, THRESHOLD, UNREADABLE, nested, values
from pyharness.reading.process.memory import Memory, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.model.tensors.elements import Element, Nested
    from pyharness.model.tensors.tensor import TensorInfo


def element_reader(read: Callable[[int, int], bytes], info: TensorInfo) -> Element:
    """Reads single elements of a tensor whose ``unreadable`` is ``None``."""
    memory, width = Memory(read), BY_NAME[info.dtype].size

    def element(offset: int) -> bool | float | complex | str:
        try:
            return values(info, memory.read(info.data + offset * width, width))[0]
        except UnreadableError:
            return UNREADABLE

    return element


def summary(
    read: Callable[[int, int], bytes], info: TensorInfo, edge: int = EDGE, threshold: int = THRESHOLD
) -> Nested:
    """The elements as nested lists, the middle of a dimension left out where there are more than ``threshold``.

    ``info.unreadable`` must be ``None``.
    """
    return nested(element_reader(read, info), info.sizes, info.strides, edge, threshold)

"""The gradients that an autograd node takes: one for each output of its forward op, with type and shape."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from pyharness.model.node_variables import input_variable
from pyharness.model.tensors.dtypes import DTYPES
from pyharness.reading.process.memory import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.variable import Variable
    from pyharness.reading.process.memory import Memory
    from pyharness.reading.tensors.layout import TensorLayout

MAX_INPUTS = 256
_MAX_RANK = 64


def inputs_of(memory: Memory, node: int, layout: TensorLayout) -> list[Variable]:
    """The inputs of the autograd node at ``node``; empty where they cannot be known."""
    try:
        return list(_inputs(memory, node, layout)) if layout.input_size else []
    except UnreadableError:
        return []


def _inputs(memory: Memory, node: int, layout: TensorLayout) -> Iterator[Variable]:
    first, count = _small_vector(memory, node + layout.node_inputs)
    for index in range(min(count, MAX_INPUTS)):
        place = first + index * layout.input_size
        dtype = memory.unsigned(place + layout.input_dtype, 2)
        name = DTYPES[dtype].name if dtype < len(DTYPES) else "undefined"
        sizes, rank = _small_vector(memory, place + layout.input_shape)
        if rank > _MAX_RANK:
            raise UnreadableError("no shape")
        yield input_variable(index, name, struct.unpack(f"<{rank}q", memory.read(sizes, 8 * rank)) if rank else ())


def _small_vector(memory: Memory, place: int) -> tuple[int, int]:
    """``c10::SmallVector`` of elements of 4 bytes or more: where they begin, and how many there are."""
    return memory.pointer(place), memory.unsigned(place + 8, 4)

"""Optimizers of torch's C++ frontend (``torch::optim``), from memory alone: their parameters and learning rates.

A library of the user's has no debug information on the classes: their functions are libtorch's. The members are those
of ``torch/csrc/api/include/torch/optim``, where the options of every optimizer begin with the learning rate.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen
from pyharness.reading.process.memory import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.reading.process.memory import Memory

_GROUPS, _POINTER = 8, 8
"""Behind the table of virtual functions; so is the learning rate in the options."""
_VECTOR, _GROUP = 24, 32
_MOST_GROUPS, _MOST_PARAMETERS = 1000, 1_000_000


@frozen
class ParameterGroup:
    """Parameters that are trained alike: the addresses of their TensorImpls."""

    parameters: tuple[int, ...]
    options: int
    """The address of its options, 0 where it has none."""


def groups_at(memory: Memory, address: int) -> tuple[ParameterGroup, ...]:
    """The groups of the optimizer at ``address``; ``UnreadableError`` where its members do not lie as they should."""
    return tuple(_group(memory, each) for each in _elements(memory, address + _GROUPS, _GROUP, _MOST_GROUPS))


def _group(memory: Memory, address: int) -> ParameterGroup:
    found = tuple(memory.pointer(each) for each in _elements(memory, address, _POINTER, _MOST_PARAMETERS))
    return ParameterGroup(found, memory.pointer(address + _VECTOR))


def learning_rate(memory: Memory, options: int) -> float:
    """The learning rate in options of a class of torch's."""
    (found,) = struct.unpack("<d", memory.read(options + _POINTER, 8))
    return float(found)


def _elements(memory: Memory, vector: int, size: int, most: int) -> Iterator[int]:
    """The addresses of the elements of a ``std::vector``."""
    first, last = memory.pointer(vector), memory.pointer(vector + _POINTER)
    if last < first or (last - first) % size or (last - first) // size > most:
        raise UnreadableError("a vector whose elements lie elsewhere")
    return iter(range(first, last, size))

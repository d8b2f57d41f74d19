"""Modules of torch's C++ frontend (``torch::nn::Module``), from memory alone: parameters, buffers, submodules.

A library of the user's has no debug information on the class: its functions are libtorch's. Since torch 1.0 its members
are (``torch/csrc/api/include/torch/nn/module.h``) three ``OrderedDict``, the name, and whether it trains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen
from pyharness.reading.process.libstdcxx_strings import text_at
from pyharness.reading.process.memory import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.reading.process.memory import Memory

_FIRST = 24
"""Behind the table of virtual functions and what ``std::enable_shared_from_this`` has."""
_INDEX, _VECTOR, _POINTER = 56, 24, 8
_STRING, _OLD_STRING, _LOCAL = 32, 8, 16
"""Sizes of a ``std::string``, the second in torch's wheels up to 2.6; and where a short text lies in the first."""
_NAMED = "Parameter"
"""How the first dictionary calls what is in it."""
_MOST = 10_000


@frozen
class CxxModule:
    """What a module has, each thing with its name: the addresses of TensorImpls and of modules."""

    parameters: tuple[tuple[str, int], ...]
    buffers: tuple[tuple[str, int], ...]
    children: tuple[tuple[str, int], ...]
    training: bool


def module_at(memory: Memory, address: int) -> CxxModule:
    """The module at ``address``; ``UnreadableError`` where its members do not lie as they should."""
    name = address + _FIRST + _INDEX + _VECTOR
    size = _STRING if memory.pointer(name) == name + _LOCAL else _OLD_STRING
    if text_at(memory.read, name, len(_NAMED) + 1)[0] != _NAMED:
        raise UnreadableError("a module whose members lie elsewhere")
    dictionary, at = _INDEX + _VECTOR + size, address + _FIRST
    return CxxModule(
        tuple(_items(memory, at, size, _POINTER)),
        tuple(_items(memory, at + dictionary, size, _POINTER)),
        tuple(_items(memory, at + 2 * dictionary, size, 2 * _POINTER)),  # of std::shared_ptr
        bool(memory.unsigned(at + 3 * dictionary + size + _POINTER, 1)),  # behind a std::optional<std::string>
    )


def _items(memory: Memory, dictionary: int, string: int, value: int) -> Iterator[tuple[str, int]]:
    """The keys of an ``OrderedDict``, each with the first word of its value."""
    first, last = (memory.pointer(dictionary + _INDEX + at) for at in (0, _POINTER))
    size = string + value
    if last < first or (last - first) % size or (last - first) // size > _MOST:
        raise UnreadableError("an OrderedDict whose items lie elsewhere")
    for item in range(first, last, size):
        yield text_at(memory.read, item, 256)[0], memory.pointer(item + string)

"""The tensors that an autograd node has saved for its backward, from memory alone.

torch's own nodes have no debug information in a wheel: where in a node its ``SavedVariable`` members lie is found by
their shape, and their names are those of the attributes that Python would show, in the order of their declaration.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from pyharness.ingdb.process import libraries
from pyharness.model.frozen import frozen
from pyharness.reading.functions.cxx_class import class_name
from pyharness.reading.process.memory import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.reading.process.mapped_files import Library
    from pyharness.reading.process.memory import Memory
    from pyharness.reading.tensors.layout import TensorLayout

MAX_SAVED = 256
_PYTHON, _CUSTOM, _GENERATED = "torch::autograd::PyNode", "torch::autograd::CppNode<", "torch::autograd::generated::"
_RAW = "_raw_saved_"
_GETSET, _MAX_PROPERTIES = 40, 200
_FLAGS = 5
"""Booleans of a SavedVariable, after its version and the number of its output."""
_SMALLEST, _LARGEST = 0x40, 1 << 14
"""Bytes of memory that an autograd node can have got."""


@frozen
class Saved:
    """One saved tensor."""

    name: str
    impl: int
    """Address of its TensorImpl."""


def saved_tensors(memory: Memory, node: int, layout: TensorLayout) -> list[Saved]:
    """What the node at ``node`` has saved; empty where that cannot be known."""
    kind = class_name(memory, node) or ""
    if not layout.saved_size:
        return []
    try:
        if kind == _PYTHON:
            held = memory.pointer(node + layout.node_object)
            return list(_of_vector(memory, held + layout.python_saved, layout))
        if kind.startswith(_CUSTOM):
            return list(_of_vector(memory, node + layout.context_saved, layout))
        return _of_members(memory, node, kind, layout)
    except UnreadableError:
        return []


def _of_vector(memory: Memory, vector: int, layout: TensorLayout) -> Iterator[Saved]:
    """A ``std::vector<SavedVariable>``."""
    first, last = memory.pointer(vector), memory.pointer(vector + 8)
    count = (last - first) // layout.saved_size
    if not 0 <= count < 1 << 32:
        raise UnreadableError("no vector of saved variables")
    for index in range(min(count, MAX_SAVED)):
        yield Saved(f"[{index}]", memory.pointer(first + index * layout.saved_size))


def _of_members(memory: Memory, node: int, kind: str, layout: TensorLayout) -> list[Saved]:
    places: list[int] = []
    place, end = node + layout.node_size, node + _size(memory, node)
    while place + layout.saved_size <= end:
        if _is_saved(memory, place, layout):
            places.append(place)
            place += layout.saved_size
        else:
            place += 8
    names = _names(memory, kind)
    if len(names) != len(places):
        names = tuple(f"[{index}]" for index in range(len(places)))
    return [Saved(name, memory.pointer(place)) for name, place in zip(names, places, strict=True)]


def _size(memory: Memory, node: int) -> int:
    """Bytes that glibc's malloc gave: the word before them, which has three flags."""
    size = (memory.unsigned(node - 8) & ~7) - 8
    return size if _SMALLEST <= size <= _LARGEST else 0


def _is_saved(memory: Memory, place: int, layout: TensorLayout) -> bool:
    """Whether a ``SavedVariable`` begins here: a tensor, its version, and booleans that are some."""
    flags = memory.read(place + layout.saved_version + 8, _FLAGS)
    if any(flag > 1 for flag in flags):
        return False
    impl = memory.pointer(place)
    return bool(impl) and impl % 8 == 0 and (class_name(memory, impl) or "").endswith("TensorImpl")


def _names(memory: Memory, kind: str) -> tuple[str, ...]:
    """Names of the saved tensors of one of torch's own nodes, from the table of its Python attributes."""
    if not kind.startswith(_GENERATED):
        return ()
    library = libraries.find_library("libtorch_python.so")
    table = _properties(library, kind.removeprefix(_GENERATED)) if library else None
    if library is None or table is None:
        return ()
    found = []
    for index in range(_MAX_PROPERTIES):
        name = memory.pointer(library.bias + table + index * _GETSET)
        if not name:
            break
        text = memory.text(name, 200)
        found += [text.removeprefix(_RAW)] if text.startswith(_RAW) else []
    return tuple(found)


@lru_cache(maxsize=256)
def _properties(library: Library, name: str) -> int | None:
    if not re.fullmatch(r"\w+", name):
        return None
    table = f"{name}_properties"
    return library.elf.symbol(f"_ZN5torch8autograd9generatedL{len(table)}{table}E")

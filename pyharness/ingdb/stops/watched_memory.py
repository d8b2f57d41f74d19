"""Memory of tensors that ``run --overwritten`` watches: a write there is a signal, and no crash."""

from __future__ import annotations

from pyharness.ingdb.process import inferior_memory, libraries
from pyharness.reading.process.memory import Memory

_LIBRARY, _ROOM = "_engine.", "pyharness_watched_memory"
"""Begin and size, of csrc/engine/saved/blocks.cpp."""
_WORD = 8


def has(address: int) -> bool:
    """Whether a tensor's block may lie there; writable ones end in no signal."""
    library = libraries.find_library(_LIBRARY)
    symbol = library.elf.symbol(_ROOM) if library else None
    if library is None or symbol is None:
        return False
    memory = Memory(inferior_memory.read)
    begin, size = (memory.pointer(symbol + library.bias + word * _WORD) for word in range(2))
    return begin <= address < begin + size

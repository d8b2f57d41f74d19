"""What the native recorder hands over: one buffer of fixed-size events for each thread (csrc/engine/record/event.h)."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

OP, NODE, GRAPH_TASK = 0, 1, 2
_LAYOUT = struct.Struct("=4Q4Ii2IHBB")
_CHAIN = 44 // 4
"""Which 32-bit word of an event is its chain."""
_APPROXIMATE = 0x80
_POSITIONS = 1 << 32


class RawEvent(NamedTuple):
    """One event as it was written; see csrc/engine/record/event.h."""

    start: int
    end: int
    sequence: int
    order: int
    forward_order: int
    forward_thread: int
    name: int
    chain: int
    graph_task: int
    inputs: int
    outputs: int
    depth: int
    kind: int
    flags: int

    @property
    def reentrant(self) -> int:
        """How many runs of the engine it is in."""
        return self.flags & ~_APPROXIMATE

    @property
    def approximate(self) -> bool:
        """Whether ``forward_order`` is a guess."""
        return bool(self.flags & _APPROXIMATE)


@dataclass(frozen=True)
class RawThread:
    """What one thread recorded."""

    kernel_id: int
    number: int
    """``RecordFunction::currentThreadId()``: what nodes know of the thread that made them."""
    name: str
    data: bytes
    lost: int
    notes: memoryview
    """Words of 64 bits; see csrc/engine/record/notes.h."""
    first_note: int

    @staticmethod
    def of(kernel_id: int, number: int, name: str, data: bytes, lost: int, notes: bytes, first_note: int) -> RawThread:
        """From the tuple that ``stop_recording`` returns."""
        return RawThread(kernel_id, number, name, data, lost, memoryview(notes).cast("Q"), first_note)

    @property
    def count(self) -> int:
        """How many events there are."""
        return len(self.data) // _LAYOUT.size

    def events(self) -> Iterator[RawEvent]:
        """All of them, in the order in which they ended."""
        return map(RawEvent._make, _LAYOUT.iter_unpack(self.data))

    def note(self, position: int) -> int | None:
        """Index in ``notes`` of what was noted there; ``None`` for nothing, and for what is overwritten."""
        if not position:
            return None
        index = (position - 1 - self.first_note) % _POSITIONS
        return index if index < len(self.notes) else None


def chains_in(threads: Iterable[RawThread]) -> set[int]:
    """The numbers of all chains that events name."""
    words = _LAYOUT.size // 4
    return {chain for each in threads for chain in memoryview(each.data).cast("I")[_CHAIN::words]}

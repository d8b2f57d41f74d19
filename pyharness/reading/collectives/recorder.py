"""torch's flight recorder in memory: a ring of the calls that a process made of its process groups.

Nothing read is trusted: what does not look like an entry is left out.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen
from pyharness.model.ranks.collective import Collective, Group
from pyharness.model.tensors.dtypes import DTYPES
from pyharness.reading.process.memory import MAX_READ, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyharness.model.ranks.collective import Shape, State
    from pyharness.reading.collectives.layout import RecorderLayout
    from pyharness.reading.process.memory import Memory

KEPT = 20
"""Calls of each group that are over and told of: the last ones."""
_MAX_ENTRIES = 200_000
_MAX_TEXT, _MAX_TENSORS, _MAX_SIZES = 400, 256, 4096
_SHORT = 16
"""Bytes of a std::string that are within it, behind the pointer and the length."""
_NANO, _MILLI = 1e-9, 1e-3


@frozen
class Call:
    """One entry: the call, its group, and where its traceback lies."""

    group: str
    description: str
    collective: Collective
    traceback: int
    """Address of its ``torch::CapturedTraceback``; 0 for none."""


def calls(memory: Memory, recorder: int, layout: RecorderLayout) -> list[Call]:
    """All that is not over of the recorder at ``recorder``, and the last of the rest, oldest first.

    `UnreadableError` where there is no recorder, or one that is laid out in another way.
    """
    found = sorted(_entries(memory, recorder, layout), key=attrgetter("created"))
    left: dict[tuple[str, bool], int] = {}
    kept = []
    for entry in reversed(found):
        key = entry.text(layout.group_name + 32), entry.flag(layout.is_message)
        if entry.is_over:
            left[key] = left.get(key, 0) + 1
        if not entry.is_over or left[key] <= KEPT:
            kept.append(entry.call())
    return kept[::-1]


def groups(
    found: Sequence[Call], place_of: Callable[[int], str], members: dict[str, tuple[int, ...]]
) -> tuple[Group, ...]:
    """What was called of each group; ``place_of`` an address of a traceback, ``members`` of groups by their names."""
    by_name: dict[str, list[Call]] = {name: [] for name in members}
    for call in found:
        by_name.setdefault(call.group, []).append(call)
    return tuple(
        Group(
            name,
            made[0].description if made else "",
            members.get(name, ()),
            tuple(replace(call.collective, place=place_of(call.traceback)) for call in made),
        )
        for name, made in by_name.items()
    )


def _entries(memory: Memory, recorder: int, layout: RecorderLayout) -> Iterator[_Entry]:
    start, end = memory.pointer(recorder + layout.entries), memory.pointer(recorder + layout.entries + 8)
    count, rest = divmod(end - start, layout.entry_size)
    capacity = memory.unsigned(recorder + layout.capacity)
    if not 0 <= count <= min(capacity, _MAX_ENTRIES) or rest:
        raise UnreadableError("a recorder of another layout")
    at_once = MAX_READ // layout.entry_size
    for first in range(0, count, at_once):
        some = min(at_once, count - first)
        address = start + first * layout.entry_size
        data = memory.read(address, some * layout.entry_size)
        for index in range(some):
            at = index * layout.entry_size
            yield _Entry(memory, layout, address + at, data[at : at + layout.entry_size])


class _Entry:
    """One entry, copied."""

    def __init__(self, memory: Memory, layout: RecorderLayout, address: int, data: bytes) -> None:
        self._memory, self._layout, self._address, self._data = memory, layout, address, data
        self.created = self._unsigned(layout.created)

    @property
    def is_over(self) -> bool:
        """Whether the call is over: Gloo only retires its entries."""
        return self.flag(self._layout.completed + 8) or self.flag(self._layout.retired)

    def call(self) -> Call:
        """All that it says."""
        layout = self._layout
        backend, _, operation = self.text(layout.operation).rpartition(":")
        is_message = self.flag(layout.is_message)
        inputs, outputs = self._shapes()
        dtypes = self._dtypes(layout.input_dtypes) or self._dtypes(layout.output_dtypes)
        made = Collective(
            operation,
            self._unsigned(layout.message_sequence if is_message else layout.sequence),
            backend,
            is_message,
            inputs,
            outputs,
            dtypes,
            self.created * _NANO,
            self._unsigned(layout.timeout) * _MILLI,
            self._state(),
        )
        description, group = self.text(layout.group_name), self.text(layout.group_name + 32)
        return Call(group, description, made, self._unsigned(layout.traceback))

    def _state(self) -> State:
        if self.is_over:
            return "completed"
        return "started" if self.flag(self._layout.started + 8) else "scheduled"

    def flag(self, at: int) -> bool:
        """A byte that says yes or no."""
        return self._data[at] == 1

    def text(self, at: int) -> str:
        """A std::string; what cannot be read is empty."""
        pointer, length = struct.unpack_from("<QQ", self._data, at)
        if length < _SHORT and pointer == self._address + at + _SHORT:
            raw = self._data[at + _SHORT : at + _SHORT + length]
        else:
            try:
                raw = self._memory.read(pointer, min(length, _MAX_TEXT))
            except UnreadableError:
                return ""
        return raw.decode("utf-8", "replace")

    def _shapes(self) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
        sizes = iter(self._numbers(self._layout.sizes, _MAX_SIZES))

        def shapes(at: int) -> tuple[Shape, ...]:
            ranks = self._numbers(at, _MAX_TENSORS)
            # The range comes first: it ends before a size of the next tensor is taken.
            return tuple(tuple(size for _, size in zip(range(rank), sizes)) for rank in ranks)  # noqa: B905

        return shapes(self._layout.input_ranks), shapes(self._layout.output_ranks)

    def _numbers(self, at: int, limit: int) -> tuple[int, ...]:
        """A c10::SmallVector<int64_t>: pointer, and 32 bits of length."""
        pointer, length = struct.unpack_from("<QI", self._data, at)
        length = min(length, limit)
        inside = pointer - self._address
        try:
            whole = 0 <= inside <= len(self._data) - 8 * length
            raw = self._data[inside : inside + 8 * length] if whole else self._memory.read(pointer, 8 * length)
        except UnreadableError:
            return ()
        return struct.unpack(f"<{length}q", raw)

    def _dtypes(self, at: int) -> tuple[str, ...]:
        """A std::vector<c10::ScalarType>, a byte each."""
        start, end = struct.unpack_from("<QQ", self._data, at)
        try:
            raw = self._memory.read(start, min(end - start, _MAX_TENSORS)) if 0 < start < end else b""
        except UnreadableError:
            return ()
        return tuple(DTYPES[code].name if code < len(DTYPES) else f"ScalarType({code})" for code in raw)

    def _unsigned(self, at: int) -> int:
        found: int = struct.unpack_from("<Q", self._data, at)[0]
        return found

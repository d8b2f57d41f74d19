"""What a process tells of its collectives: its process groups, and what its flight recorders noted of each."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from pyharness.model.frozen import frozen
from pyharness.model.ranks.collective import group_from_json
from pyharness.reading.collectives.callers import caller
from pyharness.reading.collectives.layout import INSTANCES
from pyharness.reading.collectives.process_groups import process_groups
from pyharness.reading.collectives.recorder import calls, groups
from pyharness.reading.process.memory import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyharness.model.ranks.collective import Group
    from pyharness.reading.collectives.layout import RecorderLayout
    from pyharness.reading.collectives.recorder import Call
    from pyharness.reading.process.mapped_files import Library
    from pyharness.reading.process.memory import Memory
    from pyharness.reading.python.threads import Python

    Named = Callable[[str], Library | None]
    """The first mapped library whose file name has that in it."""

ABSENT = "this torch keeps no record of collectives"
OFF = "its flight recorder is off (TORCH_FR_BUFFER_SIZE is 0)"
UNUSED = "its flight recorder has noted no collective"


@frozen
class Record:
    """The collectives of a process."""

    rank: int | None = None
    """The global rank; ``None`` where it is in no group, or that cannot be told."""
    world: int | None = None
    """The number of ranks of its default group."""
    groups: tuple[Group, ...] = ()
    note: str = ""
    """Why no collective is known; empty where some are."""

    def to_json(self) -> dict[str, Any]:
        """The object that gdb hands to the controller."""
        return {**vars(self), "groups": [group.to_json() for group in self.groups]}


def record_from_json(data: dict[str, Any]) -> Record:
    """The record that ``Record.to_json`` wrote."""
    return Record(**{**data, "groups": tuple(group_from_json(one) for one in data["groups"])})


@frozen
class Held:
    """What was read while the process stood."""

    calls: tuple[Call, ...]
    note: str


def hold(memory: Memory, named: Named, layout: RecorderLayout | None) -> Held:
    """All that the recorders of a process hold, which must stand; ``layout`` is ``None`` for a torch without one."""
    if layout is None:
        return Held((), ABSENT)
    found: list[Call] = []
    note = ABSENT
    try:
        for recorder in _recorders(memory, named):
            note = UNUSED
            if recorder:
                found += calls(memory, recorder, layout)
                note = UNUSED if memory.unsigned(recorder, 1) else OFF
    except UnreadableError as error:
        note = f"its flight recorder cannot be read: {error}"
    return Held(tuple(found), "" if found else note)


def noted(memory: Memory, named: Named, layout: RecorderLayout | None) -> int | None:
    """How many calls the recorders have noted since they began or were reset; ``None`` where that cannot be read."""
    if layout is None:
        return None
    try:
        found = [memory.unsigned(one + layout.count) for one in _recorders(memory, named) if one]
    except UnreadableError:
        return None
    return sum(found) if found else None


def _recorders(memory: Memory, named: Named) -> Iterator[int]:
    """The addresses of the recorders of each library that has one; 0 for one that has noted nothing yet."""
    for library, symbol in INSTANCES.items():
        file = named(library)
        at = file.elf.symbol(symbol) if file else None
        if file and at is not None:
            yield memory.pointer(file.bias + at)


def record_of(held: Held, python: Python | None, layout: RecorderLayout | None) -> Record:
    """The record with its groups, and with the lines that called: all that changes seldom, or never."""
    known = process_groups(python, layout) if python else []
    widest = max(known, key=lambda one: len(one.ranks), default=None)
    place_of = partial(caller, python, layout=layout) if python and layout else _nowhere
    return Record(
        widest.own if widest else None,
        len(widest.ranks) if widest else None,
        groups(held.calls, lru_cache(None)(place_of), {one.name: one.ranks for one in known}),
        held.note,
    )


def _nowhere(_traceback: int) -> str:
    return ""

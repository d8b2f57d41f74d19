"""The process groups that ``torch.distributed`` of a process knows: their names and who is in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen
from pyharness.reading.process.memory import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.reading.collectives.layout import RecorderLayout
    from pyharness.reading.python.threads import Python

_MODULE = "torch.distributed.distributed_c10d"
_MAX_GROUPS, _MAX_RANKS = 1000, 100_000


@frozen
class ProcessGroup:
    """A group that this process is in."""

    name: str
    ranks: tuple[int, ...]
    """Global ranks of its members, in the group's order."""
    own: int | None
    """The global rank of this process; ``None`` where it cannot be told."""


def process_groups(python: Python, layout: RecorderLayout | None) -> list[ProcessGroup]:
    """All groups that the process is in; none where it has not imported ``torch.distributed``, or cannot be read."""
    try:
        return list(_known(python, layout))
    except UnreadableError:
        return []


def _known(python: Python, layout: RecorderLayout | None) -> Iterator[ProcessGroup]:
    values = python.values
    module = python.module_globals(_MODULE)
    if "_pg_names" not in module or "_pg_group_ranks" not in module:
        return
    members = dict(values.dict_items(module["_pg_group_ranks"], _MAX_GROUPS)[1])
    for group, name in values.dict_items(module["_pg_names"], _MAX_GROUPS)[1]:
        if group not in members:
            continue
        entries = values.dict_items(members[group], _MAX_RANKS)[1]
        ranks = {values.integer(local): values.integer(rank) for rank, local in entries}
        ordered = tuple(ranks[local] for local in sorted(ranks))
        yield ProcessGroup(values.string(name), ordered, ranks.get(_own_rank(python, group, len(ranks), layout)))


def _own_rank(python: Python, group: int, size: int, layout: RecorderLayout | None) -> int:
    """The rank of this process in the group of a pybind11 object; -1 where what is read is not plausible."""
    if layout is None:
        return -1
    try:
        held = python.memory.pointer(group + python.layout["tuple.ob_size"])  # behind the object's head
        rank, said = (python.memory.signed(held + layout.group_rank + more, 4) for more in (0, 4))
    except UnreadableError:
        return -1
    return rank if said == size and 0 <= rank < size else -1

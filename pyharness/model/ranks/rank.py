"""One process of a distributed job, as it stood at one moment."""

from __future__ import annotations

from typing import Any, Literal

from pyharness.model.frozen import frozen
from pyharness.model.ranks.asked import Asked
from pyharness.model.ranks.collective import Group, group_from_json
from pyharness.model.threads import ThreadStack, thread_from_json

State = Literal["running", "stopped", "traced", "ended", "unreadable", "raised"]
"""``stopped`` by a signal, ``traced`` held by a debugger, ``raised`` an exception that nobody has caught."""


@frozen
class Rank:
    """A rank, or one of its child processes (a worker of its data loader)."""

    number: int | None
    """The global rank; ``None`` for a process that is in no process group."""
    host: str
    pid: int
    parent: int = 0
    command: str = ""
    world: int | None = None
    """The number of ranks of the job, as this one knows it."""
    local: int | None = None
    """The number on the host."""
    state: State = "running"
    note: str = ""
    """Why something of it is not known; empty where all is."""
    threads: tuple[ThreadStack, ...] = ()
    """The main thread first."""
    groups: tuple[Group, ...] = ()
    record_note: str = ""
    """Why no collectives are known; empty where some are."""
    asked: Asked | None = None
    """The call of ``torch.distributed`` that its main thread is in; ``None`` for none."""
    busy: tuple[tuple[int, float], ...] = ()
    """Threads that computed during the look, by their kernel ids, each with its share of a core."""
    reads_input: tuple[int, ...] = ()
    """Threads that waited for standard input at the end of the look, by their kernel ids."""
    moved: bool = False
    """Whether it called a collective during the look."""
    torch: str = ""
    """The version of its torch; empty where it has none."""
    rested: float = 0.0
    """Seconds since its main thread last ran; 0 where that is not known."""
    raised: str = ""
    """The exception that nobody has caught, as ``ValueError('no')``; empty for none."""
    started: float = 0.0
    """When the process was started, in seconds since the epoch."""
    taken: float = 0.0
    """When it was looked at, in seconds since the epoch."""
    held: float = 0.0
    """Seconds for which it stood."""
    workers: tuple[Rank, ...] = ()
    """Child processes that run Python."""

    @property
    def main(self) -> ThreadStack | None:
        """The main thread; ``None`` where nothing could be read."""
        return self.threads[0] if self.threads else None

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        return {
            **vars(self),
            "threads": [one.to_json() for one in self.threads],
            "groups": [one.to_json() for one in self.groups],
            "asked": vars(self.asked) if self.asked else None,
            "busy": {str(lwp): share for lwp, share in self.busy},
            "workers": [one.to_json() for one in self.workers],
        }


def rank_from_json(data: dict[str, Any]) -> Rank:
    """The rank that ``Rank.to_json`` wrote; `TypeError`, `KeyError` or `ValueError` for what is none."""
    return Rank(
        **{
            **data,
            "threads": tuple(thread_from_json(one) for one in data["threads"]),
            "groups": tuple(group_from_json(one) for one in data["groups"]),
            "asked": _asked(data["asked"]) if data["asked"] else None,
            "reads_input": tuple(data["reads_input"]),
            "busy": tuple((int(lwp), float(share)) for lwp, share in data["busy"].items()),
            "workers": tuple(rank_from_json(one) for one in data["workers"]),
        }
    )


def _asked(data: dict[str, Any]) -> Asked:
    return Asked(**{**data, "members": tuple(data.get("members", ()))})

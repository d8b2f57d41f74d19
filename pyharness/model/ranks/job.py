"""A distributed job: its ranks, of one host or of several."""

from __future__ import annotations

import json
from typing import Any

from pyharness.model.codec import decode, encode
from pyharness.model.errors import HarnessError
from pyharness.model.frozen import frozen
from pyharness.model.ranks.rank import Rank, rank_from_json

FORMAT = "pyharness ranks 1"


@frozen
class Job:
    """The ranks that were looked at, in order."""

    name: str
    """What its ranks run, such as ``train.py``."""
    ranks: tuple[Rank, ...]
    launcher: int = 0
    """The process that started them; 0 where none is known."""

    @property
    def world(self) -> int:
        """The number of its ranks, as they know it; of those that were found, where they do not."""
        return max((rank.world for rank in self.ranks if rank.world), default=len(self.ranks))

    @property
    def missing(self) -> tuple[int, ...]:
        """The ranks that it must have, and that were not found."""
        known = {rank.number for rank in self.ranks}
        return tuple(number for number in range(self.world) if number not in known)

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints, and that ``--merge`` reads."""
        return {
            "format": FORMAT,
            "name": self.name,
            "world": self.world,
            "launcher": self.launcher,
            "ranks": [rank.to_json() for rank in self.ranks],
        }


def job_from_text(text: str) -> Job:
    """The job in JSON of `pyharness ranks --json`; ``ValueError`` for what is no JSON, `HarnessError` as below."""
    try:
        data = json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error
    return job_from_json(data)


def job_from_json(data: object) -> Job:
    """The job that ``Job.to_json`` wrote; `HarnessError` for what is none, or of another version."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        said = data.get("format") if isinstance(data, dict) else None
        raise HarnessError(
            f"It is a file of another version: {said!r}." if said else "It is no output of `pyharness ranks --json`.",
            f"This pyharness reads {FORMAT!r}: use the same version on all hosts.",
        )
    try:
        read = Job(data["name"], tuple(rank_from_json(one) for one in data["ranks"]), data["launcher"])
        return decode(Job, encode(read), "the job")  # another host wrote it: each value is of its type
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise HarnessError(
            f"It is damaged ({type(error).__name__}: {error}).", "Write it again: pyharness ranks --json > FILE"
        ) from error


def merged(jobs: list[Job]) -> Job:
    """One job of what was seen on several hosts; a rank that two of them have is taken once, as the last one has it."""
    ranks: dict[object, Rank] = {}
    for job in jobs:
        # Containers may have the same name, and the same process ids: the number tells ranks apart.
        ranks |= {(rank.host, rank.pid) if rank.number is None else rank.number: rank for rank in job.ranks}
    ordered = sorted(ranks.values(), key=lambda rank: (rank.number is None, rank.number or 0, rank.host, rank.pid))
    return Job(jobs[0].name if jobs else "", tuple(ordered), jobs[0].launcher if len(jobs) == 1 else 0)

"""A job by the core files of its ranks: each is read by a gdb, some at once."""

from __future__ import annotations

import os
import re
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from pyharness.debugger.gdb_reading import rank_of_core
from pyharness.model.ranks.job import Job
from pyharness.model.ranks.rank import Rank

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_LAST_NUMBER = re.compile(r"(\d+)(?!.*\d)")


def look_at_cores(paths: list[Path], told: Callable[[int], None] = lambda _done: None) -> Job:
    """The ranks of these core files; ``told`` hears how many have been read. `HarnessError` for what is no core."""
    ranks = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for done, rank in enumerate(pool.map(_rank, paths), 1):
            ranks.append(rank)
            told(done)
    ordered = sorted(ranks, key=lambda rank: (rank.number is None, rank.number or 0, rank.pid))
    return Job("core files", tuple(ordered))


def _rank(path: Path) -> Rank:
    found = rank_of_core(path)
    pid = _LAST_NUMBER.search(path.name)
    return Rank(
        found.record.rank,
        socket.gethostname(),
        int(pid[1]) if pid else 0,
        command=path.name,
        world=found.record.world,
        threads=found.threads,
        groups=found.record.groups,
        record_note=found.record.note,
        torch=found.torch,
        taken=path.stat().st_mtime,
    )

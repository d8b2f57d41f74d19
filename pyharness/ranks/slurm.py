"""Finds the ``srun`` that a step of Slurm's was started by: its ranks are children of a daemon, and know its port."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyharness.ranks.processes import Process

_PROC = Path("/proc")
_LISTENS = "0A"
"""The state of a socket that listens, as ``/proc/net/tcp`` has it."""


def srun_at(port: int, processes: Iterable[Process]) -> Process | None:
    """The process that listens there; ``None`` where it is on another host, or may not be seen."""
    named = sorted((one for one in processes if one.program == "srun"), key=lambda one: one.pid)
    return next((one for one in named if _listens(one.pid, port)), None)


def _listens(pid: int, port: int) -> bool:
    wanted = {f"socket:[{inode}]" for inode in _sockets(pid, port)}
    with suppress(OSError):
        for descriptor in (_PROC / str(pid) / "fd").iterdir():
            with suppress(OSError):  # closed meanwhile
                if str(descriptor.readlink()) in wanted:
                    return True
    return False


def _sockets(pid: int, port: int) -> set[str]:
    """The numbers of all sockets that listen at a port, where the process is."""
    found = set()
    for family in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in (_PROC / str(pid) / "net" / family).read_text(encoding="ascii").splitlines()[1:]:
                fields = line.split()
                if fields[3] == _LISTENS and int(fields[1].rpartition(":")[2], 16) == port:
                    found.add(fields[9])
    return found

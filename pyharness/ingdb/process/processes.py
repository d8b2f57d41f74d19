"""Finds the running process that a person means: by its number, a part of its command line, or its rank in a job."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.model.errors import UsageError
from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

_RANK = "rank:"


@frozen
class Process:
    """A process of this user."""

    pid: int
    parent: int
    command: str

    @property
    def is_python(self) -> bool:
        """Whether it runs Python, by the name of its executable."""
        try:
            return "python" in Path(f"/proc/{self.pid}/exe").readlink().name
        except OSError:
            return False


def find(wanted: str) -> int:
    """The process id that ``wanted`` is, or that of the one process that it names; an error lists the candidates.

    A program is meant rather than what started it (a shell, a launcher) and rather than the workers that it forked.
    """
    if wanted.isdigit():
        return int(wanted)
    if not wanted:
        raise UsageError("Attach to what?", "Write ph-attach PID, or ph-attach NAME.")
    if wanted.startswith(_RANK):
        rank = wanted.removeprefix(_RANK)
        return _one(_of_rank(rank), f"has rank {rank} of a job", f"have rank {rank} of a job:")
    named = _programs([one for one in _processes() if wanted in one.command])
    return _one(named, f"has {wanted!r} in its command line", f"have {wanted!r} in their command line:")


def command_line(pid: int) -> str:
    """What the process was started as, its words apart by blanks."""
    try:
        raw = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return ""
    return raw.replace(b"\0", b" ").decode(errors="replace").strip()


def _one(found: list[Process], has: str, have: str) -> int:
    if len(found) > 1:
        found = [one for one in found if one.is_python] or found
    if len(found) == 1:
        return found[0].pid
    if not found:
        raise UsageError(
            f"No process of yours {has}.", "Name it by its PID, or by its handle: `pyharness run --list` shows those."
        )
    listed = "\n".join(f"  {one.pid}  {one.command}" for one in found)
    raise UsageError(f"{len(found)} processes {have}", f"{listed}\nName one by its PID.")


def _programs(found: list[Process]) -> list[Process]:
    """The processes of a name that are programs: a worker has its parent's command line, a launcher another one."""
    commands = {one.pid: one.command for one in found}
    found = [one for one in found if commands.get(one.parent) != one.command]
    launchers = {ancestor for one in found for ancestor in _ancestors(one.pid) if ancestor != one.pid}
    return [one for one in found if one.pid not in launchers]


def _of_rank(rank: str) -> list[Process]:
    """The processes that a launcher gave this rank; what they started inherited it."""
    found = [one for one in _processes() if f"RANK={rank}".encode() in _environment(one.pid)]
    pids = {one.pid for one in found}
    return [one for one in found if one.parent not in pids]


def _processes() -> Iterator[Process]:
    """The processes of this user, gdb itself and what started it aside."""
    own = _ancestors(os.getpid())
    pids = sorted(int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    for pid in pids:
        if pid not in own and _is_ours(pid) and (line := command_line(pid)):
            yield Process(pid, _parent(pid), line)


def _is_ours(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}").stat().st_uid == os.getuid()
    except OSError:
        return False  # it ended meanwhile


def _ancestors(pid: int) -> set[int]:
    known = set()
    while pid > 1 and pid not in known:
        known.add(pid)
        pid = _parent(pid)
    return known


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
    except (OSError, ValueError):
        return 0


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []  # it has ended, or another user's program runs in it

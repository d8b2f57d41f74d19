"""The processes of this host as a table, with what launchers write into the environment of a rank."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

from pyharness.host.loader import words_of
from pyharness.model.frozen import changed, frozen
from pyharness.model.ranks.launchers import restarts_of, told_rank

_PROC = Path("/proc")
_SLURM_JOB, _SLURM_STEP, _SLURM_PORT = "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_STEP_LAUNCHER_PORT"
_RUN, _PMIX = "TORCHELASTIC_RUN_ID", "PMIX_NAMESPACE"
_JOBS = (_RUN, "MASTER_ADDR", "MASTER_PORT", _PMIX, _SLURM_JOB, _SLURM_STEP)
"""What the ranks of one job have in common."""
_SERVER = "multiprocessing.forkserver"
_NOT_WORKERS = ("multiprocessing.resource_tracker", _SERVER, "compile_worker")
"""In the command lines of processes that Python and torch start for themselves."""
SPAWNED = "python -c"
"""What a process of ``multiprocessing`` is called by its command line."""
_OURS = "/pyharness/debuggee/start.py"
"""What runs a program under pyharness: the script comes behind words of ours."""
_REPORTERS = {"aftermath", "hangs", "answers"}
"""The words behind that for what looks at a program from beside."""


@frozen
class Process:
    """One process."""

    pid: int
    parent: int
    words: tuple[str, ...]
    """The words of the command line; none where it has ended, or is the kernel's."""
    program: str
    """The name of the file that it runs; empty where that may not be seen."""
    is_over: bool
    is_forked: bool = False
    """Whether multiprocessing's server of forks has forked it, as it does by default from 3.14 on.

    Its words are the server's then.
    """

    @property
    def runs_python(self) -> bool:
        """Whether it runs a program of Python's."""
        return self.program.startswith("python")

    @property
    def looks(self) -> bool:
        """Whether it is a pyharness that looks at ranks: what it starts, as a gdb, has torch's files open too."""
        ours = [(one.endswith(_OURS), Path(one).name == "pyharness", two) for one, two in pairwise(self.words[:4])]
        return any((beside and two in _REPORTERS) or (asked and two == "ranks") for beside, asked, two in ours)

    @property
    def is_helper(self) -> bool:
        """Whether Python, torch or pyharness started it for themselves."""
        return self.looks or (not self.is_forked and self._has(_NOT_WORKERS))

    @property
    def is_server(self) -> bool:
        """Whether it is multiprocessing's server of forks, or one that it has forked."""
        return self._has((_SERVER,))

    def _has(self, names: tuple[str, ...]) -> bool:
        return any(name in word for word in self.words for name in names)

    @property
    def script(self) -> str:
        """What it runs, as a person calls it: the script's name, the module, or the program."""
        if any(word.endswith(_OURS) for word in self.words[:3]):
            theirs = iter(self.words[3:])
            return next((Path(word).name for word in theirs if word.endswith(".py")), self.program)
        words = iter(self.words[1:])
        for word in words:
            if word in {"-m", "-c"}:
                return next(words, word).split(".")[-1] if word == "-m" else SPAWNED
            if not word.startswith("-"):
                return Path(word).name
        return Path(self.words[0]).name if self.words else self.program


@frozen
class Given:
    """What a launcher told a rank."""

    rank: int
    world: int | None
    local: int | None
    job: tuple[str, ...]
    step_port: int = 0
    """Where the ``srun`` listens that has started it; 0 for none."""
    restarts: int = 0
    """How often torchrun had begun the job anew on this host."""

    @property
    def name(self) -> str:
        """What a launcher calls its job: torchrun's ``--rdzv-id``, or Slurm's numbers; empty for none."""
        known = dict(zip(_JOBS, self.job, strict=True))
        step = f"{known[_SLURM_JOB]}.{known[_SLURM_STEP]}" if known[_SLURM_STEP] else ""
        return known[_RUN] or known[_PMIX] or step

    @property
    def slurm_job(self) -> str:
        """The number of Slurm's for its job; empty for none."""
        return self.job[_JOBS.index(_SLURM_JOB)]


class Table:
    """All processes that may be looked at, as they are now."""

    def __init__(self) -> None:
        pids = [int(name) for name in os.listdir(_PROC) if name.isdigit()]  # noqa: PTH208  (a thousand of them)
        found = {pid: process for pid in pids if (process := _process(pid))}
        servers = {pid for pid, process in found.items() if process.is_server}
        forked = {pid: changed(found[pid], is_forked=True) for pid in servers if found[pid].parent in servers}
        self.processes = found | forked

    def children(self, pid: int) -> list[Process]:
        """What a process has started itself."""
        return [one for one in self.processes.values() if one.parent == pid]

    def descendants(self, pid: int) -> list[Process]:
        """What a process and its children have started."""
        found = self.children(pid)
        for child in found:
            found += self.children(child.pid)
        return found

    def ancestors(self, pid: int) -> list[Process]:
        """Who started a process, the next one first."""
        found: list[Process] = []
        at = self.processes.get(pid)
        while at and (at := self.processes.get(at.parent)) and at not in found:
            found.append(at)
        return found


def given(pid: int) -> Given | None:
    """What a launcher wrote into the environment that a process was started with; ``None`` for no rank."""
    try:
        text = (_PROC / str(pid) / "environ").read_bytes().decode(errors="replace")
    except OSError:
        return None
    known = dict(entry.split("=", 1) for entry in text.split("\0") if "=" in entry)
    if (told := told_rank(known)) is None:
        return None
    port = known.get(_SLURM_PORT, "")
    common = tuple(known.get(name, "") for name in _JOBS)
    return Given(*told, common, int(port) if port.isdecimal() else 0, restarts_of(known))


def slurm_job_here() -> str:
    """The number of the job of Slurm's that this process is a part of; empty for none."""
    return os.environ.get(_SLURM_JOB, "")


def _process(pid: int) -> Process | None:
    """``None`` for one of another user's, or that is gone."""
    folder = _PROC / str(pid)
    try:
        if os.geteuid() and folder.stat().st_uid != os.getuid():
            return None
        state, parent = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[:2]
    except OSError:
        return None
    try:
        program = (folder / "exe").readlink().name
    except OSError:
        program = ""
    return Process(pid, int(parent), tuple(words_of(pid)), program, state in {"Z", "X"})

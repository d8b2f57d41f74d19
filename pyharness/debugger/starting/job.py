"""Starts a distributed job by the command that a person would type, of which some ranks are debugged.

The command is run as it is: by its environment each Python that it starts calls in, says its rank, and waits for its
debugger where it was chosen.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from pyharness.debugger.starting.child_processes import ChildProcesses
from pyharness.debugger.starting.launch import Command
from pyharness.host.missing import check_folder
from pyharness.host.process_state import descendants
from pyharness.model.errors import UsageError
from pyharness.model.frozen import frozen
from pyharness.protocol.channel import Child
from pyharness.protocol.children_door import added

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyharness.protocol.channel import Message

_WAITS = 24 * 3600.0
"""Seconds that a rank waits for its debugger: it hears when that has gone."""
_HEARS = 2.0
"""Seconds in which a rank hears that; one that stands in native code does when it goes on."""
_SLURM = {"srun", "salloc"}
"""Commands whose ranks are started by a daemon of Slurm's: nobody else can end them, on this host or another."""
_GIVES_BACK = 10.0
"""Seconds for these to end their job; those of one host take 0.2 s."""
_WATCHDOGS = {"TORCH_NCCL_ENABLE_MONITORING": "0"}
"""What else would end a rank that waits for one that a debugger holds."""


@frozen
class JobCommand:
    """What to run, and which ranks of it are debugged."""

    words: tuple[str, ...]
    """A program, or a script of Python's, with its arguments."""
    ranks: tuple[int, ...] = ()
    """None of them for all."""
    cwd: str | None = None
    stdin: int | None = None
    stdout: IO[Any] | int | None = None
    stderr: int | None = None
    env: Mapping[str, str] | None = None
    """Added to this process's environment."""
    children: bool = False
    """Whether it is no job: each Python that it starts is debugged, itself too, and none has a rank."""

    @property
    def name(self) -> str:
        """What its processes are called after."""
        return Path(self.program.script or self.words[0]).stem

    @property
    def program(self) -> Command:
        """What its ranks run, as far as the command says: places are named from there."""
        return Command(next((word for word in self.words if word.endswith(".py")), ""), cwd=self.cwd)

    def check(self) -> None:
        """Raise what can be said before anything is started."""
        if not self.words:
            raise UsageError("Which job?", "pyharness debug --ranks 0 -- torchrun --nproc-per-node 4 train.py")
        if self.cwd is not None:
            check_folder(self.cwd)
        _line(self.words, self.cwd)

    def start(self, on_rank: Callable[[Child], None], on_exit: Callable[[int], None]) -> StartedJob:
        """Start it; both are called on threads of the job."""
        return StartedJob(self, on_rank, on_exit)


class StartedJob:
    """A job that runs: the process that was started for it, and the door that its ranks call at."""

    def __init__(self, command: JobCommand, on_rank: Callable[[Child], None], on_exit: Callable[[int], None]) -> None:
        def heard(message: Message[Any]) -> None:
            if isinstance(message, Child):
                on_rank(message)

        ranks = None if command.children else command.ranks
        self._door = ChildProcesses(heard, _WAITS, command.name, ranks)
        env = {**os.environ, **(command.env or {}), **_WATCHDOGS}
        try:
            self._process = subprocess.Popen(
                _line(command.words, command.cwd),
                cwd=command.cwd,
                env={**env, **added(self._door.told, env)},
                stdin=command.stdin,
                stdout=command.stdout,
                stderr=command.stderr,
                start_new_session=True,  # no key of our terminal is a signal to it
            )
        except OSError as error:
            self._door.close()
            raise UsageError(f"{command.words[0]} cannot be started: {error.strerror}.") from error
        self.pid = self._process.pid
        threading.Thread(target=lambda: on_exit(self._process.wait()), name="pyharness-job", daemon=True).start()

    def wait(self) -> int:
        """Wait for its end; the exit code, negative for a signal."""
        return self._process.wait()

    def end(self, more: Sequence[int] = ()) -> None:
        """End all that it has started, and ``more``; torchrun would write a report of it first, and is not asked."""
        family = set(more)
        if self._process.poll() is None:
            if _command_of(self.pid) not in _SLURM:
                self._process.send_signal(signal.SIGSTOP)  # it starts no more
            below = descendants(self.pid)
            _give_back([pid for pid in (self.pid, *below) if _command_of(pid) in _SLURM])
            family |= set(below)
            self._process.kill()
        for pid in family - {self.pid}:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()

    def leave(self) -> None:
        """Nobody debugs it any more: ranks that wait go on, and each group gets its own timeout again."""
        self._door.dismiss(_HEARS)

    def close(self) -> None:
        """Give back the door."""
        self._door.close()


def _command_of(pid: int) -> str:
    """The name of the program that a process runs; empty for one that has gone."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    return ""


def _give_back(commands: Sequence[int]) -> None:
    """Have commands of Slurm's end their job, and wait for that."""
    ends = []
    for pid in commands:
        with suppress(OSError):
            ends.append(os.pidfd_open(pid))
            signal.pidfd_send_signal(ends[-1], signal.SIGTERM)
    until = time.monotonic() + _GIVES_BACK
    while (left := until - time.monotonic()) > 0 and ends:
        for ended in select.select(ends, [], [], left)[0]:
            ends.remove(ended)
            os.close(ended)
    for end in ends:
        os.close(end)


def _line(words: Sequence[str], cwd: str | None) -> list[str]:
    """The command line: of a script, with the Python that runs us; it is named from here, wherever it runs."""
    first = words[0]
    if first.endswith(".py") and Path(first).is_file():
        return [sys.executable, str(Path(first).absolute()) if cwd else first, *words[1:]]
    beside = Path(sys.executable).parent / first  # torchrun, of the environment that we are of
    found = str(beside) if "/" not in first and os.access(beside, os.X_OK) else shutil.which(first)
    if found is None:
        raise UsageError(
            f"There is no program {first!r}.", "Name what starts the job: torchrun, mpirun, srun or a script."
        )
    return [found, *words[1:]]

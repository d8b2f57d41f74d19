"""A distributed job on this machine: one process for each rank, over Gloo and loopback."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from typing_extensions import Self

from pyharness.model.ranks.job import Job
from pyharness.model.ranks.verdict import Verdict
from pyharness.ranks.finding import find
from pyharness.ranks.seeing import see

_SECONDS = 90
"""Until a job has come to where it is looked for."""


class RankedJob:
    """``size`` processes of a script; all of them, and what they started, end with the ``with`` block."""

    def __init__(self, script: Path, *words: str, size: int = 3, env: dict[str, str] | None = None) -> None:
        self._env = env or {}
        self.port = free_port()
        self.ranks = [self._start(rank, size, [sys.executable, str(script), *words]) for rank in range(size)]

    def _start(self, rank: int, size: int, words: list[str]) -> subprocess.Popen[str]:
        told = {"RANK": rank, "WORLD_SIZE": size, "LOCAL_RANK": rank, "MASTER_PORT": self.port, "OMP_NUM_THREADS": 1}
        env = {
            **os.environ,
            **self._env,
            "MASTER_ADDR": "127.0.0.1",
            **{name: str(value) for name, value in told.items()},
        }
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(words, env=env, text=True, start_new_session=True, **pipes)  # type: ignore[call-overload, no-any-return]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self.ranks:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

    def judged(self, wanted: Callable[[Verdict], bool], every: float = 0.5) -> tuple[Job, Verdict]:
        """The job and its verdict, as soon as that is ``wanted``, or the last one; a look ``every`` so many seconds."""
        end = time.monotonic() + _SECONDS
        while True:
            job, verdict = see(find(str(self.ranks[0].pid)))
            if wanted(verdict) or time.monotonic() > end:
                return job, verdict
            time.sleep(every)


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port

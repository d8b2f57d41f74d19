"""A job of three ranks that runs one planted fault: bare, or with what the peers need beforehand."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from torch._C._distributed_c10d import TCPStore

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "tests" / "programs" / "ranks" / "faults.py"
PREPARED = ROOT / "benchmarks" / "programs" / "prepared_rank.py"
SIZE = 3


class Job:
    """The processes of one fault; all of them, and what they started, end with the ``with`` block."""

    def __init__(self, fault: str, environment: dict[str, str], before: tuple[str, ...] = ()) -> None:
        # The store is where torchrun has it: outside of the ranks. The debug server can be started first of all then.
        self._store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
        told = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": self._store.port, "WORLD_SIZE": SIZE, "OMP_NUM_THREADS": 1}
        told |= {"TORCHELASTIC_USE_AGENT_STORE": True, "TORCHELASTIC_RESTART_COUNT": 0}
        self._environment = os.environ | {name: str(value) for name, value in told.items()} | environment
        words = [sys.executable, *before, str(SCRIPT), fault]
        self._ranks = [self._start(words, {"RANK": str(rank), "LOCAL_RANK": str(rank)}) for rank in range(SIZE)]

    @property
    def pids(self) -> list[int]:
        """The process of each rank."""
        return [rank.pid for rank in self._ranks]

    def _start(self, words: list[str], own: dict[str, str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            words,
            env=self._environment | own,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for rank in self._ranks:
            with suppress(ProcessLookupError):
                os.killpg(rank.pid, signal.SIGKILL)
            rank.communicate()


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])

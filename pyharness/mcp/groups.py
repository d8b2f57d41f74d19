"""The processes of verbs: each leads a group of its own, and none of them outlives the client."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import threading
from contextlib import suppress

_PATIENCE = 2.0
"""Seconds that a verb has to end its program, once it was told to: a client waits hardly longer for its server."""


class Groups:
    """Groups that run, by the process that leads each; ``end`` and ``close`` may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ending: dict[int, threading.Thread] = {}
        self._leaders: set[int] = set()
        self._processes: dict[int, asyncio.subprocess.Process] = {}

    def add(self, process: asyncio.subprocess.Process) -> None:
        """A verb has been started."""
        self._leaders.add(process.pid)
        self._processes[process.pid] = process

    def forget(self, leader: int) -> None:
        """A verb has ended by itself."""
        self._leaders.discard(leader)
        self._ending.pop(leader, None)
        self._processes.pop(leader, None)

    def end(self, leader: int) -> threading.Thread:
        """Have a verb end, and all of its group; who joins the thread waits for that."""
        with self._lock:  # who closes joins what another thread has just begun here
            self._leaders.discard(leader)
            if leader not in self._ending:
                ends = threading.Thread(target=_end, args=(leader,), name=f"pyharness-ends-{leader}")
                ends.start()
                self._ending[leader] = ends
            return self._ending[leader]

    def close(self) -> None:
        """End all, and wait for that."""
        for leader in list(self._leaders):
            self.end(leader)
        with self._lock:
            ending = list(self._ending.values())
        for each in ending:
            each.join()

    async def reaped(self) -> None:
        """Wait until the loop has heard of the end of all: else it complains when it is closed."""
        await asyncio.gather(*(_is_over(each) for each in self._processes.values()))


async def _is_over(process: asyncio.subprocess.Process) -> None:
    """Wait for a process, and until its pipes are closed, which may be heard of later."""
    await process.wait()
    streams = [each.read() for each in (process.stdout, process.stderr) if each]
    with suppress(asyncio.TimeoutError, RuntimeError):  # another has a pipe, or reads it
        await asyncio.wait_for(asyncio.gather(*streams), _PATIENCE)


def _end(leader: int) -> None:
    """Tell the verb to end, as a terminal would: it ends its program; then its group, which may hear no signal."""
    with suppress(ProcessLookupError):
        os.kill(leader, signal.SIGTERM)
    with suppress(ProcessLookupError):
        end = os.pidfd_open(leader)
        try:
            select.select([end], [], [], _PATIENCE)
        finally:
            os.close(end)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)

"""Commands side by side, as many as the machine has room for; the first that fails ends all of them."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Sequence

_MEMORY = 1536 * 1024
"""KiB that a compiler takes with torch's headers."""
LOOK = 0.2
"""Seconds after which a wait looks whether it is to end."""


class FailedError(HarnessError):
    """A command that failed, and what it said."""

    def __init__(self, command: Sequence[str], said: str) -> None:
        super().__init__(f"{command[0]} failed.")
        self.said = said


class GivenUpError(HarnessError):
    """Nobody waits any more for what is built."""

    def __init__(self) -> None:
        super().__init__("No engine is built: nobody waits for it any more.", "`pyharness engine build` builds it.")


def room() -> int:
    """How many compilers run at once: one a core, and as many as free memory takes."""
    cores = len(os.sched_getaffinity(0))
    with suppress(OSError, ValueError, IndexError):
        text = Path("/proc/meminfo").read_text(encoding="ascii")
        free = int(text.partition("MemAvailable:")[2].split()[0])
        return max(1, min(cores, free // _MEMORY))
    return cores


def run(
    commands: Sequence[list[str]],
    at_once: int,
    ended: Callable[[list[str]], None],
    left: threading.Event,
) -> None:
    """Run all; ``ended`` hears of each. ``FailedError`` for the first that fails, ``GivenUpError`` if ``left``."""
    waiting = deque(commands)
    with selectors.DefaultSelector() as running:
        try:
            while waiting or running.get_map():
                while waiting and len(running.get_map()) < at_once:
                    _start(waiting.popleft(), running)
                for key, _ in running.select(LOOK):
                    _hear(key, running, ended)
                if left.is_set():
                    raise GivenUpError
        finally:
            for key in list(running.get_map().values()):
                _end(key.data[0])


def _start(command: list[str], running: selectors.BaseSelector) -> None:
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,  # the compiler proper is its child, and is to end with it
    )
    if process.stdout is not None:  # it is a pipe
        running.register(process.stdout, selectors.EVENT_READ, (process, command, bytearray()))


def _hear(key: selectors.SelectorKey, running: selectors.BaseSelector, ended: Callable[[list[str]], None]) -> None:
    process, command, said = key.data
    data = os.read(key.fd, 1 << 16)
    said += data
    if data:
        return
    running.unregister(key.fileobj)
    process.stdout.close()
    if process.wait():
        raise FailedError(command, said.decode(errors="replace"))
    ended(command)


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout:
        process.stdout.close()

"""What is measured: each question gives, for every adapter, one number a round."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.beside_seam.adapters import LARGE, OURS, SMALL, again, at_the_call, require_function, run_through
from benchmarks.dap_session.client import DapClient
from benchmarks.dap_session.servers import PROGRAMS, Server, stopped
from benchmarks.dap_session.stand import Stand
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterator

STEPS = 20
Seconds = dict[str, list[float]]
"""Question → seconds."""


def steps(server: Server, folder: Path) -> Seconds:
    """Launch to the first stop; into the extension and out, over and over; what an editor asks for at a native stop."""
    with _state() as home, at_the_call(server, SMALL, folder, home) as stand:
        found: Seconds = {"launch to the first stop": [stand.seconds_to_here]}
        for turn in range(STEPS):
            into = stand.step("stepIn")
            require_function(stand, "call")
            shown = stand.shown()
            out = stand.step("stepOut")
            require_function(stand, "<module>")
            for name, value in (("into", into), ("native stop until shown", shown), ("out", out)):
                if turn:  # the first one reads symbols
                    found.setdefault(name, []).append(value)
            again(stand, SMALL)
    return found


def first_into(server: Server, folder: Path) -> Seconds:
    """Into one of 100,000 functions, where nobody has looked before; and the next time."""
    with _state() as home, at_the_call(server, LARGE, folder, home) as stand:
        first = stand.step("stepIn")
        require_function(stand, "call")
        stand.step("stepOut")
        again(stand, LARGE)
        return {"first into of 100,000": [first], "next into of 100,000": [stand.step("stepIn")]}


def stack(server: Server, python: str, folder: Path) -> Seconds:
    """Attach to a program that runs, pause it, and have its stack."""
    with _running(python, folder) as pid, _state() as home:
        started = time.perf_counter()
        with DapClient(server.name, server.command, {"PYHARNESS_HOME": str(home)}) as client:
            client.request("initialize", {"clientID": "benchmark", "adapterID": "benchmark", "pathFormat": "path"})
            begun = client.send("attach", {"processId" if server.name == OURS else "pid": pid})
            client.event("initialized")
            client.request("configurationDone")
            client.response(begun)
            threads = client.request("threads")["threads"]
            client.request("pause", {"threadId": threads[0]["id"]})
            frames = Stand(client, stopped(client)).frames()
            if not any("<module>" in frame["name"] for frame in frames):
                raise HarnessError(f"{server.name} shows no Python: {frames}")
            return {"attach, pause, stack": [time.perf_counter() - started]}


def untouched(server: Server | None, python: str) -> Seconds:
    """The program's own times while nobody looks; bare where there is no debugger."""
    found: Seconds = {}
    for script in (PROGRAMS / "untouched.py", PROGRAMS / "thread_starts.py"):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "cases.json"
            if server is None:
                subprocess.run([python, script, file], check=True)
            else:
                run_through(server, script, file)
            found |= {name: [value] for name, value in json.loads(file.read_text()).items()}
    del found["has_breakpoint"]
    return found


@contextmanager
def _state() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@contextmanager
def _running(python: str, folder: Path) -> Iterator[int]:
    words = [python, str(PROGRAMS / "crossing.py"), str(folder)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        try:
            if process.stdout is None or process.stdout.readline() != b"ready\n":
                raise HarnessError(f"{words[1]} did not start.")
            yield process.pid
        finally:
            process.kill()

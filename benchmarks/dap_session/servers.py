"""The adapters side by side: pyharness, debugpy alone, gdb 16 alone; and the extension that all of them debug."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmarks.dap_session.client import DapClient

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "benchmarks" / "programs"
SCRIPT, SOURCE = PROGRAMS / "steps.py", PROGRAMS / "steps.cpp"
OURS, DEBUGPY, GDB = "pyharness dap", "debugpy alone", "gdb 16 alone"


@dataclass(frozen=True)
class Place:
    """A line of a source file."""

    file: Path
    line: int


@dataclass(frozen=True)
class Server:
    """An adapter's name and command, and what its launch request wants beside the program."""

    name: str
    command: Sequence[str]
    launch: Mapping[str, Any] = field(default_factory=dict)


PYHARNESS = Server(OURS, (sys.executable, "-m", "pyharness", "dap"))
DEBUGPY_ALONE = Server(DEBUGPY, (sys.executable, "-m", "debugpy.adapter"), {"subProcess": False})


def mark(file: Path, name: str) -> Place:
    """The line of ``file`` that ends in ``@name``."""
    lines = file.read_text().splitlines()
    return Place(file, next(i for i, text in enumerate(lines, 1) if text.split("  (")[0].endswith(f"@{name}")))


def extension() -> str:
    """The path of the extension that ``steps.py`` calls, built for debugging when its source is new."""
    import torch

    digest = hashlib.sha256(SOURCE.read_bytes() + torch.__version__.encode()).hexdigest()[:16]
    library = ROOT / "build" / "benchmarks" / f"steps-{digest}.so"
    if not library.exists():
        library.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(torch.__file__).parent
        built_with = [f"-I{folder / 'include'}", f"-L{folder / 'lib'}", "-lc10", "-ltorch_cpu", "-std=c++20"]
        partial = library.with_suffix(f".{os.getpid()}")
        command = ["g++", "-shared", "-fPIC", "-g", "-O0", str(SOURCE), *built_with, "-o", str(partial)]
        subprocess.run(command, check=True, stdout=sys.stderr)
        partial.rename(library)
    return str(library)


def gdb_16() -> Server | str:
    """gdb's own adapter, or why it is not available."""
    script = ROOT / "benchmarks" / "peers" / "gdb16.sh"
    where = ROOT / ".setup" / "peers" / "gdb16"
    done = subprocess.run([script, where], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        return (done.stderr.strip().splitlines() or [f"{script.name} failed"])[-1]
    return Server(GDB, (done.stdout.strip(), "-nx", "-q", "-i", "dap"))


def launch(client: DapClient, server: Server, script: Path, arguments: Sequence[str], places: Sequence[Place]) -> int:
    """Start ``script`` under an adapter and run to the first of ``places``; the thread that stands there."""
    program = {"program": str(script), "args": list(arguments), "cwd": str(ROOT), "console": "internalConsole"}
    return _begin(client, "launch", {**program, **server.launch}, places)


def attach(client: DapClient, pid: int, places: Sequence[Place]) -> int:
    """Attach gdb's adapter to a program that runs, and run it to the first of ``places``."""
    thread = _begin(client, "attach", {"pid": pid}, places, "stopped")
    client.request("continue", {"threadId": thread})
    return stopped(client, "breakpoint")


def _begin(
    client: DapClient, how: str, arguments: Mapping[str, Any], places: Sequence[Place], awaited: str = "breakpoint"
) -> int:
    features = {"clientID": "benchmark", "adapterID": "benchmark", "linesStartAt1": True, "columnsStartAt1": True}
    client.request("initialize", {**features, "pathFormat": "path"})
    begun = client.send(how, dict(arguments))
    client.event("initialized")
    for file in {place.file for place in places}:
        lines = [{"line": place.line} for place in places if place.file == file]
        client.request("setBreakpoints", {"source": {"path": str(file)}, "breakpoints": lines})
    client.request("configurationDone")
    client.response(begun)
    return stopped(client, "" if awaited == "stopped" else awaited)


def stopped(client: DapClient, reason: str = "") -> int:
    """Wait for a stop; the thread."""
    body = client.event("stopped", lambda body: not reason or reason in str(body["reason"]))
    return int(body["threadId"])


@contextmanager
def running_program(library: str) -> Iterator[int]:
    """The program without a debugger, in its loop; its process id."""
    with subprocess.Popen([sys.executable, SCRIPT, library], stdout=subprocess.PIPE, cwd=ROOT) as process:
        try:
            if process.stdout is None or process.stdout.readline() != b"ready\n":
                raise HarnessError(f"{SCRIPT} did not start.")
            yield process.pid
        finally:
            process.kill()

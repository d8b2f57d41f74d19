"""Both adapters, told which Python the program has; and the programs' extensions, built for that Python."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from benchmarks.dap_session.client import DapClient
from benchmarks.dap_session.servers import PROGRAMS, Server, launch, mark
from benchmarks.dap_session.stand import Stand
from benchmarks.into_many import build as build_many
from benchmarks.peers import fetch
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OURS, SEAM = "pyharness", "Seam"
SMALL, LARGE = "crossing", "many"
_SCRIPTS = {SMALL: PROGRAMS / "crossing.py", LARGE: PROGRAMS / "many_calls.py"}


def adapters(python: str) -> tuple[list[Server], tuple[str, ...]]:
    """The adapters that are here, and a line why Seam is not."""
    how = {"python": python}
    found = [Server(OURS, (sys.executable, "-m", "pyharness", "dap"), how)]
    seam, reason = fetch("seam", python)
    if seam:
        found.append(Server(SEAM, (seam, "dap"), how))
    return found, (reason,) if reason else ()


def extensions(python: str, folder: Path) -> None:
    """Compile both into ``folder``, for debugging."""
    asked = [python, "-c", "import sysconfig; print(sysconfig.get_paths()['include'])"]
    include = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    words = ["-g", "-O0", "-fPIC", "-shared", f"-I{include}", "-o", f"{SMALL}.so", str(PROGRAMS / "crossing.c")]
    subprocess.run([os.environ.get("CC", "cc"), *words], cwd=folder, check=True)
    build_many(folder, include)


@contextmanager
def at_the_call(server: Server, extension: str, folder: Path, home: Path) -> Iterator[Stand]:
    """A program that stands at the line that calls the extension, for the first time; no breakpoint is left."""
    script = _SCRIPTS[extension]
    with DapClient(server.name, server.command, {"PYHARNESS_HOME": str(home)}) as client:
        stand = Stand(client, launch(client, server, script, [str(folder)], [mark(script, "call")]))
        stand.seconds_to_here = client.elapsed
        client.request("setBreakpoints", {"source": {"path": str(script)}, "breakpoints": []})
        yield stand


def again(stand: Stand, extension: str) -> None:
    """Go on to the same line in the next turn of the loop: *out* ends behind it, or still on it."""
    stand.step("next")
    stand.go_on_to(mark(_SCRIPTS[extension], "call"))


def require_function(stand: Stand, name: str) -> None:
    """Make sure that a step ended in that function: a time to another would mean nothing."""
    said = stand.frames(1)[0]["name"]
    if name not in said:
        raise HarnessError(f"{stand.client.name}: a step ended in {said}, not in {name}.")


def run_through(server: Server, script: Path, file: Path) -> None:
    """Run a program that never stops, with ``file`` as its argument."""
    with DapClient(server.name, server.command) as client:
        client.request("initialize", {"clientID": "benchmark", "adapterID": "benchmark", "pathFormat": "path"})
        words = {"program": str(script), "args": [str(file)], "console": "internalConsole", **server.launch}
        begun = client.send("launch", words)
        client.event("initialized")
        client.request("configurationDone")
        client.response(begun)
        client.event("terminated")

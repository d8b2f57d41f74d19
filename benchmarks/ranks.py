"""The time to look at eight ranks that hang: ours for all, against pystack and py-spy for one after another.

Also how long each rank stood for ours. The peers print stacks; they name no collective and no culprit.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.peers import stack_readers
from benchmarks.table import Check, Table, interleave, rows_of
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = Path(__file__).parent / "programs" / "eight_ranks.py"
SIZE, RUNS = 8, 5
OURS = "pyharness ranks"
AT_MOST, HELD_AT_MOST = 3.0, 100.0
"""Seconds for all, and milliseconds for which one may stand."""


def run(runs: int = RUNS) -> Table:
    """Run all of them in turns against one job."""
    peers, missing = stack_readers()
    held: list[float] = []
    with tempfile.TemporaryDirectory() as home, _job() as pids:
        subjects = {OURS: lambda: held.extend(_ours(pids, home))}
        for name, command in peers.items():
            subjects[f"{name}, in a loop"] = lambda command=command: _each(command, pids)  # type: ignore[misc]
        seconds = interleave(subjects, runs)
    stood = rows_of("a rank stood", {OURS: held})
    longest = max(held) * 1000
    checks = (
        Check("seconds for eight ranks", sorted(seconds[OURS])[len(seconds[OURS]) // 2], AT_MOST),
        Check("ms that a rank stood, at most", longest, HELD_AT_MOST),
    )
    return Table("ranks", (*rows_of("eight ranks", seconds), *stood), checks, (missing,) if missing else ())


def _ours(pids: list[int], home: str) -> list[float]:
    """The seconds for which each rank stood."""
    command = [str(Path(sys.executable).with_name("pyharness")), "ranks", str(pids[0]), "--json"]
    environment = os.environ | {"PYHARNESS_HOME": home}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    found = json.loads(done.stdout or "{}")
    if found.get("verdict", {}).get("culprits") not in ([1], []):
        raise HarnessError("pyharness ranks blamed the wrong rank.", done.stderr[-1000:])
    return [rank["held"] for rank in found["ranks"]]


def _each(command: list[str], pids: list[int]) -> None:
    for pid in pids:
        subprocess.run([*command, str(pid)], capture_output=True, check=True)


@contextmanager
def _job() -> Iterator[list[int]]:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    common = os.environ | {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(SIZE)}
    with ExitStack() as ends:
        ranks = []
        for rank in range(SIZE):
            environment = common | {"RANK": str(rank), "LOCAL_RANK": str(rank), "OMP_NUM_THREADS": "1"}
            ranks.append(
                subprocess.Popen(
                    [sys.executable, PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
                )
            )
            ends.callback(ranks[-1].communicate)
            ends.callback(ranks[-1].kill)
        for process in ranks:
            if process.stdout is None or process.stdout.readline() != b"ready\n":
                raise HarnessError("The job did not start.", "Is torch built with Gloo?")
        yield [process.pid for process in ranks]

"""One run of somebody else's client: the program, the adapter to start, and what is left of it afterwards."""

import contextlib
import os
import select
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATIENCE = 150
"""Seconds for one session; both clients give up on each of its steps before."""
PATIENCE_AT_THE_END = 10


class Session:
    """One client's run; the environment of all that comes of it carries a mark."""

    def __init__(self, folder):
        self.program = ROOT / "tests" / "programs" / "plain_crossing.py"
        text = self.program.read_text().splitlines()
        self.line = next(number for number, line in enumerate(text, 1) if line.endswith("# @forward"))
        self.pyharness = Path(sys.executable).with_name("pyharness")
        self._mark = f"PYHARNESS_TEST_MARK={uuid.uuid4()}"
        self._folder = folder

    def run(self, *command, **environment):
        """Run a client to its end; what it printed."""
        name, _, value = self._mark.partition("=")
        # An editor keeps logs and state of its own.
        own = {f"XDG_{kind}_HOME": str(self._folder / kind.lower()) for kind in ("CACHE", "CONFIG", "DATA", "STATE")}
        done = subprocess.run(
            [*map(str, command)],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **own, **environment, name: value},
        )
        said = f"$ {' '.join(map(str, command))}: {done.returncode}\n{done.stdout}\n--- stderr\n{done.stderr}"
        assert done.returncode == 0, said
        return said

    def left_behind(self):
        """Command lines of what carries the mark and does not end by itself, as an adapter without its client does."""
        return [command_line for pid, command_line in self._processes() if not _ends(pid)]

    def _processes(self):
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if self._mark.encode() in (process / "environ").read_bytes().split(b"\0"):
                    yield int(process.name), (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()


def _ends(pid):
    with contextlib.suppress(ProcessLookupError):
        descriptor = os.pidfd_open(pid)
        ended, _, _ = select.select([descriptor], [], [], PATIENCE_AT_THE_END)
        os.close(descriptor)
        return bool(ended)
    return True


def not_here(reason):
    """Skip, with the reason; in continuous integration what a test needs is there, or the run is red."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)

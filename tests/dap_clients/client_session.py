"""One run of somebody else's client: the program, the adapter to start, and what is left of it afterwards."""

import os
import subprocess
import sys
import uuid
from pathlib import Path

from kit.marks import line_of
from kit.paths import ROOT
from kit.processes import carrying, ends_within

PATIENCE = 150
"""Seconds for one session; both clients give up on each of its steps before."""
PATIENCE_AT_THE_END = 10


class Session:
    """One client's run; the environment of all that comes of it carries a mark."""

    def __init__(self, folder):
        self.program = ROOT / "tests" / "programs" / "plain_crossing.py"
        self.line = line_of("forward", self.program)
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
        return [command_line for pid, command_line in carrying(self._mark) if not ends_within(pid, PATIENCE_AT_THE_END)]

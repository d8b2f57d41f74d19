"""Runs a gdb -batch with the ph- commands and says what it printed, for the tests of the commands."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from kit.marks import line_of
from kit.paths import PROGRAMS, ROOT

PROGRAM = PROGRAMS / "plain_lines.py"


def tells_stops_in_calls():
    """Whether gdb says where a signal ended a call that it made: 16 and newer only say which signal."""
    said = subprocess.run(["gdb", "--version"], capture_output=True, text=True, check=True).stdout
    return int(re.search(r"(\d+)\.\d+", said.splitlines()[0])[1]) < 16


def at(name, file=PROGRAM):
    return f"{file.name}:{line_of(name, file)}"


class Gdb:
    """A finished gdb -batch."""

    def __init__(self, folder, *commands, program=PROGRAM, environment=None, arguments=""):
        script = folder / "script.gdb"
        head = ["set pagination off", "set debuginfod enabled off", f"source {ROOT}/pyharness/ingdb/load.py"]
        script.write_text("\n".join([*head, f"ph-program {program} {arguments}", *commands, ""]), encoding="utf-8")
        done = subprocess.run(
            ["gdb", "-nx", "-batch", "-x", script],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            cwd=folder,
            env={
                **os.environ,
                "PYHARNESS_HOME": str(folder / "home"),
                "PYHARNESS_PYTHON": sys.executable,
                **(environment or {}),
            },
        )
        self.status = done.returncode
        self.text = f"$ gdb, status {done.returncode}\n{done.stdout}\n--- stderr\n{done.stderr}"

    def has(self, *parts):
        """All of ``parts`` are printed, in this order."""
        position = 0
        for part in parts:
            found = self.text.find(part, position)
            assert found >= 0, f"{part!r} is not there (after what came before it) in\n{self.text}"
            position = found + len(part)
        return self

"""The gdb that is made beside the program, as soon as there is native code to look into."""

import os
import shutil
import signal

import pytest

import pyharness
from kit.marks import place
from kit.paths import PROGRAMS
from pyharness.debugger.live.shell import LiveShell
from pyharness.model.errors import DebuggerLostError

LINES = PROGRAMS / "plain_lines.py"


def gdb_of(program):
    shell = program._shell
    assert isinstance(shell, LiveShell)
    return shell._gdb.unused()


def test_a_program_of_python_alone_has_none():
    with pyharness.debug(LINES) as program:
        program.run_to(place("inner", LINES))
        program.over()
        assert gdb_of(program) is None
        assert program.finish() == 3


def test_one_that_was_never_needed_is_not_missed(tmp_path):
    script = tmp_path / "adds.py"
    script.write_text(f"import numpy\n{LINES.read_text()}")
    with pyharness.debug(script) as program:
        program.run_to(place("inner", script))
        gdb = gdb_of(program).link
        os.kill(gdb.pid, signal.SIGKILL)
        assert gdb.ends(60)
        assert program.over().reason == "step"
        assert program.finish() == 3


def test_one_that_is_killed_as_it_begins_is_lost_and_is_one(tmp_path, monkeypatch):
    dies = tmp_path / "gdb"
    dies.write_text("#!/bin/sh\nkill -KILL $$\n")
    dies.chmod(0o700)
    monkeypatch.setenv("PYHARNESS_GDB", str(dies))
    with pytest.raises(DebuggerLostError, match="gdb ended unexpectedly"), pyharness.debug(LINES) as program:
        program._shell.attach()


@pytest.mark.parametrize("most", [11, 12, 13, 14])
def test_one_that_dies_as_it_attaches_leaves_no_program_stopped(tmp_path, monkeypatch, most):
    """gdb runs out of descriptors, at one of these limits in the middle of the attach."""
    script = tmp_path / "adds.py"
    script.write_text(f"import numpy\n{LINES.read_text()}")
    short = tmp_path / "gdb"
    short.write_text(f'#!/bin/sh\nulimit -n {most}\nexec {shutil.which("gdb")} "$@"\n')
    short.chmod(0o700)
    monkeypatch.setenv("PYHARNESS_GDB", str(short))
    with pyharness.debug(script, crashes=True) as program:
        program.run_to(place("inner", script))
        assert program.finish() == 3

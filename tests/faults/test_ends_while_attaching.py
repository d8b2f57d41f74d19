"""The program ends while gdb attaches to it: that is its end, told once, not a failure of gdb's."""

import signal
import sys

import pytest
from harness_process import STANDS, at

from kit.paths import PROGRAMS
from kit.slow_gdb import SlowGdb

pytestmark = pytest.mark.rotated_tests(turns=2)

ENDS = PROGRAMS / "fault_ends.py"
LINES = PROGRAMS / "plain_lines.py"


def attaching(pyharness, tmp_path, moment, *words):
    gdb = SlowGdb(tmp_path, moment)
    harness = pyharness("step", *words, **gdb.environment)
    gdb.wait_until_it_attaches()
    return harness, gdb


def assert_ended(harness, how):
    """One error says that the place was not reached and how the program ended."""
    status, errors = harness.end()
    assert status != 0
    assert errors.count("pyharness:") == 1
    assert "native:held" in errors
    assert how in errors
    assert "gdb" not in errors.replace(str(ENDS), "")
    assert "Traceback" not in errors


@pytest.mark.parametrize(("way", "how"), [("exit", "exit code 5"), ("crash", "SIGSEGV")])
def test_before_gdb_is_there(pyharness, tmp_path, way, how):
    harness, gdb = attaching(pyharness, tmp_path, "before", ENDS, "--at", "native:held", "--", way)
    program = harness.family()["program"]
    harness.answer()
    program.wait_for_end()
    gdb.let_go()
    assert_ended(harness, how)


def test_while_gdb_holds_it(pyharness, tmp_path):
    harness, gdb = attaching(pyharness, tmp_path, "after", STANDS, "--at", "native:held")
    harness.family()["program"].kill()
    gdb.let_go()
    assert_ended(harness, "SIGKILL")


def test_a_crash_while_gdb_holds_it_is_a_stop(pyharness, tmp_path):
    """The signal waits until gdb lets the threads run."""
    harness, gdb = attaching(pyharness, tmp_path, "after", STANDS, "--at", "native:held", "--stack")
    harness.family()["program"].kill(signal.SIGSEGV)
    gdb.let_go()
    status, _ = harness.end()
    assert status == 128 + signal.SIGSEGV
    assert "signal · native" in harness.said
    assert "SIGSEGV" in harness.said


def test_a_crash_without_gdb_is_the_end(pyharness):
    harness = pyharness("step", ENDS, "--at", "native:held", "--", "crash", PYHARNESS_GDB="/nowhere/gdb").answer()
    status, errors = harness.end()
    assert status != 0
    assert "Traceback" not in errors


def test_before_it_connects(pyharness, tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import os, sys\nif '--channel' in sys.orig_argv: os._exit(9)\n")
    path = f"{tmp_path}:{pyharness.environment['PYTHONPATH']}"
    status, errors = pyharness("step", STANDS, "--at", "native:held", PYTHONPATH=path).end()
    assert status == 1
    assert "pyharness: The program ended before pyharness could connect to it." in errors


def test_a_python_that_lacks_debugpy_is_brought_ours(pyharness, tmp_path):
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E "$@"\n')
    python.chmod(0o755)
    harness = pyharness("step", LINES, "--python", python, "--at", at("inner", LINES), "--over")
    assert harness.end() == (3, "")
    assert "2  step · python · inner" in harness.said


def test_at_its_first_line(pyharness, tmp_path):
    script = tmp_path / "short.py"
    script.write_text("import os\nos._exit(4)\n")
    status, errors = pyharness("step", script, "--at", f"py:{script}:2", "--over").end()
    assert (status, errors) == (4, "")

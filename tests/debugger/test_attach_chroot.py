"""Programs that changed their root folder: to one without /proc, or to one that has nothing."""

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

import pyharness
from kit import builds, needs
from kit.marks import line_of
from kit.paths import PROGRAMS
from pyharness.model.errors import HarnessError

PROGRAM, SOURCE = PROGRAMS / "ledger.py", PROGRAMS / "tally.c"
MOVES = "import os, runpy, sys; os.chroot(sys.argv[1]); os.chdir('/');"
LEDGER = f"{MOVES} runpy.run_path(sys.argv[2])"
NOTHING = f"{MOVES} print('ready', flush=True); [print(line, end='', flush=True) for line in sys.stdin]"
MOUNT = 'mount --bind / "$0" && exec "$@"'


@contextmanager
def moved(room, script, before=()):
    """A program whose root folder is ``room``."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    env = {**os.environ, "PYTHONPATH": str(builds.tally(sys.executable, str(PROGRAMS)))}
    command = [*before, sys.executable, "-c", script, room, PROGRAM]
    with subprocess.Popen(command, text=True, env=env, **pipes) as program:
        said = program.stdout.readline()
        if not said:
            needs.skip("another root folder")
        assert said == "ready\n"
        yield program


def descriptors(program):
    return len(list(Path(f"/proc/{program.pid}/fd").iterdir()))


def comes_back_to(count, program):
    """It closes them when it has seen that the debugger hung up."""
    end = time.monotonic() + 10
    while descriptors(program) != count and time.monotonic() < end:
        time.sleep(0.01)
    return descriptors(program) == count


def test_both_halves_without_proc(tmp_path):
    before = needs.surroundings(["unshare", "--mount", "sh", "-c", MOUNT, str(tmp_path)], "mounts of its own")
    with moved(tmp_path, LEDGER, before) as program:
        with pyharness.attach(program.pid) as session:
            session.set_breakpoint(f"py:{PROGRAM}:{line_of('calls', PROGRAM)}")
            program.stdin.write("4\n")
            program.stdin.flush()
            assert session.resume().frame.function == "entry"
            assert session.into().frame.file == str(SOURCE)
            assert session.out().frame.line == line_of("after", PROGRAM)
        assert program.stdout.readline() == "13\n"
        program.communicate()
        assert program.returncode == 0


def test_without_python_s_own_files_it_is_said_at_once_and_leaves_nothing(tmp_path):
    with moved(tmp_path, NOTHING) as program:
        before = descriptors(program)
        for _ in range(2):
            with pytest.raises(HarnessError, match="as a Python program: ModuleNotFoundError: No module") as raised:
                pyharness.attach(program.pid, seconds=60)
            assert "`pyharness debug`" in raised.value.remedy
            assert f"pyharness stack {program.pid}" in raised.value.remedy
        assert comes_back_to(before, program)
        output, _ = program.communicate("on\n")
        assert output == "on\n"

"""What runs while the user's first library is loaded has places, too: gdb is there before it."""

import subprocess
import sys

import pytest

SOURCE = """static int n;
__attribute__((constructor)) static void built(void) {
  n = 5;
  n += 1;
}
int given(int k) { return n + k; }
"""
LOADS = """import ctypes
def f():
    library = ctypes.CDLL("./first.so")
    return library.given(1)
print(f())
"""
CRASHES = "__attribute__((constructor)) static void built(void) { *(volatile int *)0 = 1; }\n"


@pytest.fixture
def first(pyharness, tmp_path):
    """``first(SOURCE, WORDS)``: what ``pyharness step`` says of a program that loads it."""

    def run(source, *words):
        (tmp_path / "first.c").write_text(source)
        subprocess.run(["gcc", "-g", "-fPIC", "-shared", "-o", "first.so", "first.c"], cwd=tmp_path, check=True)
        (tmp_path / "loads.py").write_text(LOADS)
        return pyharness("step", "loads.py", *words)

    return run


@pytest.mark.parametrize(
    ("where", "stops"),
    [
        (("--at", "native:built", "--out"), ["built · first.c:3", "f · loads.py:4"]),
        (("--at", "native:first.c:4"), ["built · first.c:4"]),
        (("--at", "py:loads.py:3", "--into"), ["f · loads.py:3", "built · first.c:3"]),
    ],
)
def test_an_initializer_is_a_place(first, where, stops):
    done = first(SOURCE, *where)
    told = [line.split(" · ", 2)[2] for line in done.stdout.splitlines() if line[:1].isdigit() and " · " in line]
    assert told == stops, done.stdout + done.stderr
    assert "\n7\n" in done.stdout
    assert (done.returncode, done.stderr) == (0, "")


def test_a_crash_in_an_initializer_is_a_stop(first):
    done = first(CRASHES, "--at", "py:loads.py:4")
    assert "signal · native · built · first.c:1" in done.stdout, done.stdout + done.stderr


def test_a_script_that_runs_python_as_its_child(first, tmp_path):
    """gdb and the stacks look at the process that calls in, and not at the shell that was started."""
    wrapper = tmp_path / "python-of-a-site"
    wrapper.write_text(f'#!/bin/sh\n{sys.executable} "$@"\n')
    wrapper.chmod(0o755)
    done = first(SOURCE, "--python", "./python-of-a-site", "--at", "py:loads.py:4", "--into", "--stack")
    assert "step · native · given · first.c:6" in done.stdout, done.stdout + done.stderr
    assert "python  f " in done.stdout
    assert (done.returncode, done.stderr) == (0, "")

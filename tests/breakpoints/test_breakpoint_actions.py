"""What a breakpoint does where it matches, in a program of its own: pdb, debugpy, a line, nothing of gdb's."""

import subprocess
import sys

import pytest

PROGRAM = """
import torch
from pyharness.native import breakpoint as native_breakpoint

def work(x):
    y = x + 1
    z = y * 2
    return z + 3

native_breakpoint(op="aten::mul", action={action!r})
print(work(torch.ones(2)).tolist())
"""


@pytest.fixture
def run(environment, tmp_path):
    def start(action, typed):
        script = tmp_path / "program.py"
        script.write_text(PROGRAM.format(action=action))
        command = [sys.executable, str(script)]
        done = subprocess.run(
            command, input=typed, capture_output=True, text=True, timeout=90, check=False, env=environment
        )
        return script, done

    return start


def test_pdb_stands_at_the_line_that_called_before_the_op(run):
    script, done = run("pdb", "p y.tolist()\np 'z' in dir()\nnext\np z.tolist()\ncontinue\n")
    assert f"> {script}(7)work()" in done.stdout
    assert "-> z = y * 2" in done.stdout
    assert "[2.0, 2.0]" in done.stdout
    assert "False" in done.stdout
    assert f"> {script}(8)work()" in done.stdout
    assert "[4.0, 4.0]" in done.stdout
    assert "[7.0, 7.0]" in done.stdout
    assert done.returncode == 0, done.stderr


def test_without_a_terminal_or_a_debugger_it_is_a_line(run):
    script, done = run("", "")
    assert done.stderr == f"pyharness: aten::mul.Tensor(float32[2], int64[]) at {script}:7 in work, hit 1\n"
    assert done.stdout == "[7.0, 7.0]\n"


def test_stop_without_a_debugger_lets_the_program_run(run):
    _script, done = run("stop", "")
    assert (done.returncode, done.stdout) == (0, "[7.0, 7.0]\n")

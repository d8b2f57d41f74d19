"""A program whose Python no debugger works in: it is told in one sentence, and the program runs on."""

import subprocess
import sys

import pytest

import pyharness
from pyharness.model.errors import HarnessError

PROGRAM = """
import sys
exec(sys.argv[1])
print(flush=True)
sys.exit(len(sys.stdin.read()))
"""


@pytest.mark.parametrize(
    ("pretends", "why"),
    [
        ("sys.abiflags = 't'", "it runs a free-threaded build; needed is CPython with the GIL."),
        ("sys.implementation.name = 'other'", "it runs other; needed is CPython."),
        ("sys.version_info = (3, 8, 18, 'final', 0)", "it runs Python 3.8; needed is 3.9 or newer."),
    ],
)
def test_it_is_refused(pretends, why):
    command = [sys.executable, "-c", PROGRAM, pretends]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout.readline() == "\n"
        with pytest.raises(HarnessError) as refused:
            pyharness.attach(program.pid)
        assert refused.value.message == f"Process {program.pid} cannot be debugged as a Python program: {why}"
        program.communicate("four")
        assert program.returncode == 4

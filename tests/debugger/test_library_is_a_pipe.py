"""A library that was loaded, and in whose place a pipe lies now: nobody may wait at it."""

import subprocess
import sys

import pytest

from pyharness import debug
from pyharness.model.errors import HarnessError

SCRIPT = """\
import ctypes, os, sys
library = ctypes.CDLL(sys.argv[1])
os.unlink(sys.argv[1])
os.mkfifo(sys.argv[1])
print("ready", flush=True)
sys.stdin.read()
print("ends", library.doubled(4))
"""


@pytest.fixture
def program(tmp_path):
    """A script, and the library that it loads."""
    (tmp_path / "loads.py").write_text(SCRIPT)
    (tmp_path / "doubled.c").write_text("int doubled(int value) {\n  return value * 2;\n}\n")
    subprocess.run(["cc", "-g", "-fPIC", "-shared", "-o", "doubled.so", "doubled.c"], check=True, cwd=tmp_path)
    return str(tmp_path / "loads.py"), str(tmp_path / "doubled.so")


def test_a_stack_is_read_all_the_same(program, pyharness):
    with subprocess.Popen([sys.executable, *program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as runs:
        assert runs.stdout.readline() == "ready\n"
        done = pyharness("stack", str(runs.pid))
        assert "sys.stdin.read()" in done.stdout
        assert runs.communicate("")[0] == "ends 8\n"
    assert (done.returncode, runs.returncode) == (0, 0)


def test_gdb_is_not_attached_to_it(program):
    with debug(*program) as debugged:
        assert debugged.run_to(f"py:{program[0]}:5").frame.line == 5
        with pytest.raises(HarnessError, match=r"doubled\.so, which is a pipe now"):
            debugged.set_breakpoint("native:doubled")
        assert debugged.over().frame.line == 6
        assert debugged.finish() == 0

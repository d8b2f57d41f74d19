"""A library that the program loads by a name of its own, ``/proc/self/fd/5``: in gdb that is another file."""

import subprocess
import sys

import pytest

from pyharness import debug
from pyharness.model.errors import HarnessError

SCRIPT = """\
import ctypes, os, sys
memory = os.memfd_create("doubled.so")
with open(sys.argv[1], "rb") as library:
    os.write(memory, library.read())
number = int(sys.argv[2])
os.dup2(memory, number)
os.close(memory)
for name in sys.argv[3:]:
    library = ctypes.CDLL(name)
    print("ready", flush=True)
    sys.stdin.readline()
    print("ends", library.doubled(4))
"""
GDB_HAS_PIPES_AT = [10, 11, 12]


@pytest.fixture
def program(tmp_path):
    """A script, and the library that it loads."""
    (tmp_path / "loads.py").write_text(SCRIPT)
    (tmp_path / "doubled.c").write_text("int doubled(int value) {\n  return value * 2;\n}\n")
    subprocess.run(["cc", "-g", "-fPIC", "-shared", "-o", "doubled.so", "doubled.c"], check=True, cwd=tmp_path)
    return str(tmp_path / "loads.py"), str(tmp_path / "doubled.so")


@pytest.mark.rotated
@pytest.mark.parametrize("name", ["/proc/self/fd/{}", "/proc/thread-self/fd/{}", "/dev/fd/{}"])
def test_gdb_does_not_wait_at_a_file_of_its_own(program, name):
    for number in GDB_HAS_PIPES_AT:
        script = [*program, str(number), name.format(number)]
        said = pytest.raises(HarnessError, match=r"doubled\.so lies in memory only\. Load it from a file to stop")
        with debug(*script) as debugged, said:
            debugged.run_to("native:doubled")


def test_one_that_is_loaded_while_gdb_is_there(program):
    """gdb opens it as the dynamic linker tells of it, in the middle of the load."""
    with debug(*program, "12", program[1], "/proc/self/fd/12") as debugged:
        assert debugged.run_to("native:doubled").frame.language == "native"
        assert debugged.run_to(f"py:{program[0]}:10").frame.line == 10
        assert debugged.finish() == 0


def test_a_core_file_of_such_a_program(program, pyharness, tmp_path):
    core = tmp_path / "core"
    words = [sys.executable, *program, "9", "/proc/self/fd/9"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as runs:
        assert runs.stdout.readline() == "ready\n"
        gdb = ["gdb", "-nx", "-batch", "-iex", "set auto-solib-add off", "-iex", f"set sysroot {tmp_path}"]
        subprocess.run([*gdb, "-p", str(runs.pid), "-ex", f"generate-core-file {core}"], check=True, timeout=60)
        assert runs.communicate("\n")[0] == "ends 8\n"
    for read in (["stack", str(core)], ["debug", str(core), "-c", "bt", "-c", "quit"]):
        done = pyharness(*read)
        assert "sys.stdin.readline()" in done.stdout, done.stderr

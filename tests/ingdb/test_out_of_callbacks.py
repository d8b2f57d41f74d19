"""ph-out of Python that native code of the user's has called: there."""

import subprocess

import pytest

from kit.gdb import Gdb

SOURCE = "int twice(int (*call)(int), int number) {\n  return call(number)\n         + call(number);\n}\n"
SCRIPT = """import ctypes
library = ctypes.CDLL("./twice.so")
@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
def called(number):
    return inner(number)
def inner(number):
    return number + 1
print(library.twice(called, 2))
print("behind")
"""
RELAY = "int relay(int (*call)(int), int number) {\n  int result = call(number);\n  return result;\n}\n"
RELAYED = """int relay(int (*call)(int), int number);
int twice(int (*call)(int), int number) {
  return relay(call, number)
         + relay(call, number);
}
"""


@pytest.mark.parametrize(
    ("line", "begins"),
    [(5, "called () at"), (7, "inner () at")],  # what called `inner` has no line behind that
)
def test_it_ends_in_the_code_that_called(tmp_path, line, begins):
    (tmp_path / "twice.c").write_text(SOURCE)
    subprocess.run(["cc", "-g", "-fPIC", "-shared", "-o", "twice.so", "twice.c"], check=True, cwd=tmp_path)
    (tmp_path / "script.py").write_text(SCRIPT)
    commands = [f"ph-break py:script.py:{line}", "ph-run", "delete 1", "ph-out", "ph-out"]
    Gdb(tmp_path, *commands, program=tmp_path / "script.py").has(begins, "twice (", "twice.c:2", "script.py:9")


def test_it_passes_code_of_pythons_own_that_has_lines(tmp_path):
    """Python's own code has lines where a distribution's debug symbols are; they name its sources by relative paths."""
    (tmp_path / "lib-dynload").mkdir()
    (tmp_path / "relay.c").write_text(RELAY)
    (tmp_path / "twice.c").write_text(RELAYED)
    build = ["cc", "-g", "-fPIC", "-shared", "-Wl,-rpath,$ORIGIN/lib-dynload"]
    subprocess.run([*build, "-o", "lib-dynload/librelay.so", "relay.c"], check=True, cwd=tmp_path)
    library = ["-Llib-dynload", "-lrelay"]
    subprocess.run([*build, "-o", "twice.so", "twice.c", *library], check=True, cwd=tmp_path)
    (tmp_path / "script.py").write_text(SCRIPT)
    commands = ["ph-break py:script.py:7", "ph-run", "delete 1", "ph-out", "ph-out"]
    Gdb(tmp_path, *commands, program=tmp_path / "script.py").has("inner () at", "twice (", "twice.c:3", "script.py:9")

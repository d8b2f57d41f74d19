"""A library that was built anew, or removed, while a program had it: what cannot be told is said, and why."""

import subprocess
import sys

import pytest

import pyharness
from kit.interpreters import waiting
from pyharness.debugger.stack_dump import dump_stacks
from pyharness.model.errors import UsageError

SOURCE = """#include <unistd.h>
int wait_for_a_byte(void) {
  char byte = 0;
  return (int)read(0, &byte, 1);
}
"""
PROGRAM = """import ctypes, json, os
library = ctypes.CDLL({library!r})
print(json.dumps({{"pid": os.getpid()}}), flush=True)
library.wait_for_a_byte()
"""


@pytest.fixture(params=["removed", "rebuilt"])
def library(tmp_path, request):
    """The library's path, and what happens to it."""

    def build(source):
        (tmp_path / "waits.c").write_text(source)
        command = ["cc", "-g", "-O0", "-fPIC", "-shared", "-o", tmp_path / "waits.so", tmp_path / "waits.c"]
        subprocess.run(command, check=True)

    build(SOURCE)
    (tmp_path / "loads.py").write_text(PROGRAM.format(library=str(tmp_path / "waits.so")))

    def change():
        (tmp_path / "waits.so").unlink()
        if request.param == "rebuilt":
            build(f"int more(void) {{ return 1; }}\n{SOURCE}")

    return tmp_path / "waits.so", change


def test_the_stack_says_why_frames_have_no_lines(library, tmp_path):
    path, change = library
    with waiting(sys.executable, tmp_path / "loads.py") as (process, said):
        assert dump_stacks(said["pid"])[0].note == ""
        subprocess.run(["gcore", "-o", tmp_path / "core", str(process.pid)], check=True, capture_output=True)
        change()
        core = tmp_path / f"core.{process.pid}"
        for thread in (dump_stacks(process.pid)[0], dump_stacks(core)[0]):
            assert thread.note == f"{path} is missing, or was rebuilt since: its frames have no lines."
            assert any(frame.language == "python" for frame in thread.frames)


def test_a_place_in_it_says_why_it_is_not_found(library, tmp_path):
    path, change = library
    with waiting(sys.executable, tmp_path / "loads.py") as (process, _said):
        change()
        with pyharness.attach(process.pid) as program:
            process.stdin.write("x")
            process.stdin.flush()
            with pytest.raises(UsageError, match=f"{path}: missing, or rebuilt since the program loaded it"):
                program.run_to("native:wait_for_a_byte")

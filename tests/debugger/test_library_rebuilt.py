"""A library built anew, written over or removed while a program had it: what cannot be told is said, and why."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pyharness
from kit.interpreters import waiting
from pyharness.debugger.stack_dump import dump_stacks
from pyharness.model.errors import UsageError

pytestmark = pytest.mark.rotated_tests(turns=5)


SOURCE = """#include <unistd.h>
int wait_for_a_byte(void) {
  char byte = 0;
  return (int)read(0, &byte, 1);
}
int scale(int x) {
  int y = 2 * x;
  return y + 1;
}
"""
MORE = "int more(void) { return 1; }\n"
PROGRAM = """import ctypes, json, os
library = ctypes.CDLL({library!r})
scale = library.scale
print(json.dumps({{"pid": os.getpid()}}), flush=True)
library.wait_for_a_byte()
scale(1)
print("scaled")
"""
BECAME = {
    "removed": "was deleted since the program loaded it",
    "rebuilt": "was replaced since the program loaded it",
    "overwritten": "was written over since the program loaded it",
}


def build(path, source):
    """The library of that source; the source file keeps the text of the first."""
    file = path.with_suffix(f".{len(source)}.c")
    file.write_text(source)
    subprocess.run(["cc", "-g", "-O0", "-fPIC", "-shared", "-o", path, file], check=True)
    return path


def change(path, how):
    if how == "overwritten":  # the same inode: what the program runs is the new code
        with path.open("r+b") as stream:
            stream.write(build(path.with_name("new.so"), SOURCE.replace("2 * x", "3 * x")).read_bytes())
    else:
        path.unlink()
    if how == "rebuilt":
        build(path, MORE + SOURCE)


@pytest.fixture
def library(tmp_path):
    path = build(tmp_path / "waits.so", SOURCE)
    (tmp_path / "loads.py").write_text(PROGRAM.format(library=str(path)))
    return path


@pytest.fixture(params=["removed", "rebuilt"])
def changed(request):
    return request.param


def test_the_stack_says_why_frames_have_no_lines(library, tmp_path, changed):
    in_core = {"removed": "is missing", "rebuilt": "was rebuilt since"}[changed]
    with waiting(sys.executable, tmp_path / "loads.py") as (process, said):
        assert dump_stacks(said["pid"])[0].note == ""
        subprocess.run(["gcore", "-o", tmp_path / "core", str(process.pid)], check=True, capture_output=True)
        change(library, changed)
        core = tmp_path / f"core.{process.pid}"
        for became, thread in ((BECAME[changed], dump_stacks(process.pid)[0]), (in_core, dump_stacks(core)[0])):
            assert thread.note == f"{library} {became}: its frames have no lines."
            assert any(frame.language == "python" for frame in thread.frames)


def test_a_place_in_it_says_why_it_is_not_found(library, tmp_path, changed):
    with waiting(sys.executable, tmp_path / "loads.py") as (process, _said):
        change(library, changed)
        with pyharness.attach(process.pid) as program:
            place = program.set_breakpoint("native:scale")
            process.stdin.write("x")
            process.stdin.flush()
            assert program.resume() is None
            missed = program.missed(place)
    assert isinstance(missed, UsageError)
    assert missed.remedy.startswith(f"{library} {BECAME[changed]}")


def test_a_step_into_code_whose_lines_nobody_read_says_why_it_goes_on(library, tmp_path, changed):
    script = tmp_path / "loads.py"
    with waiting(sys.executable, script) as (process, _said):
        change(library, changed)
        with pyharness.attach(process.pid) as program:
            program.set_breakpoint(f"py:{script}:6")
            process.stdin.write("x")
            process.stdin.flush()
            assert program.resume().frame.line == 6
            stop = program.into()
    assert (stop.frame.language, stop.frame.line) == ("python", 7)
    assert stop.note.endswith(f"{library} {BECAME[changed]}")


@pytest.fixture
def changing(library, tmp_path):
    """A program that changes its own library as its argument says, and then runs it."""
    script = tmp_path / "changes.py"
    script.write_text(
        "import ctypes, os, shutil, sys\n"
        f"path = {str(library)!r}\n"
        "scale = ctypes.CDLL(path).scale\n"
        "if sys.argv[1] == 'overwritten':\n"
        "    with open(path, 'r+b') as stream, open(path + '.new', 'rb') as new: stream.write(new.read())\n"
        "elif sys.argv[1] == 'rebuilt': os.replace(path + '.new', path)\n"
        "else: os.unlink(path)\n"
        "scale(1)\n"
        "os._exit(0)\n"
    )
    shutil.copy(build(library.with_name("other.so"), SOURCE.replace("2 * x", "3 * x")), f"{library}.new")
    return script


def test_lines_that_were_read_before_are_those_of_the_code_that_runs(changing, library, tmp_path, changed):
    if changed == "rebuilt":  # another function lies where the old one was
        build(Path(f"{library}.new"), SOURCE.replace("int scale", MORE + "int scale"))
    with pyharness.debug(str(changing), changed, crashes=True) as program:
        program.run_to(f"py:{changing}:8")
        stop = program.into()
        assert (stop.frame.function, stop.frame.line) == ("scale", 7)
        assert stop.frame.file == str(tmp_path / f"waits.{len(SOURCE)}.c")
        assert stop.note == f"{library} {BECAME[changed]}: these are the lines that it had"
        assert (program.over().frame.line, program.out().frame.line) == (8, 9)
        assert program.finish() == 0


def test_code_that_was_written_over_is_not_stepped_into(changing, library):
    with pyharness.debug(str(changing), "overwritten", crashes=True) as program:
        program.run_to(f"py:{changing}:8")
        stop = program.into()
        assert (stop.frame.language, stop.frame.line) == ("python", 9)
        assert stop.note.endswith(f"{library} {BECAME['overwritten']}")
        assert program.finish() == 0


def test_a_file_that_was_only_touched_is_the_one_that_runs(changing, library):
    with pyharness.debug(str(changing), "rebuilt", crashes=True) as program:
        program.run_to(f"py:{changing}:4")
        os.utime(library, (1, 1))
        program.set_breakpoint("native:scale")
        program.run_to(f"py:{changing}:6")
        os.utime(library, (2, 2))
        assert program.into().frame.line == 8
        stop = program.into()
        assert stop.frame.function == "scale"

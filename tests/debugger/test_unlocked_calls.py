"""A crash in the interpreter without the GIL, or behind its end: the note names what native code has called."""

import json
import os
import re
import subprocess
import sys

import pytest

from kit import builds
from kit.command import PYHARNESS
from kit.interpreters import cases, interpreters
from kit.marks import line_of
from kit.paths import PROGRAMS

PROGRAM, SOURCE = PROGRAMS / "unlocked_calls.py", PROGRAMS / "unlocked_calls.c"
WAY = "was called without the GIL (py::gil_scoped_acquire or PyGILState_Ensure takes it)"


@pytest.fixture
def crash(pyharness):
    def stopped(way, python=sys.executable):
        environment = {**pyharness.environment, "PYTHONPATH": str(builds.unlocked_calls(python))}
        result = pyharness("step", "--python", python, "--json", PROGRAM, "--", way, env=environment)
        (stop,) = json.loads(result.stdout)["stops"]
        lines = [frame["line"] for frame in stop["stack"] if frame["file"] == str(SOURCE)]
        assert line_of(way, SOURCE) in lines
        return stop["note"]

    return stopped


@pytest.mark.rotated
@pytest.mark.parametrize("version", cases())
def test_a_call_that_crashes(version, crash):
    note = crash("raises", interpreters()[version])
    assert f"PyErr_SetString {WAY}; a null pointer and " in note


def test_a_call_that_python_itself_refuses(crash):
    assert re.fullmatch(rf"SIGABRT \(Aborted\): Py(ThreadState_Get|thon) {re.escape(WAY)}", crash("asks"))


def test_a_thread_that_has_never_taken_it(crash):
    note = crash("of_a_thread")
    assert re.match(
        rf"SIGSEGV \(Segmentation fault\) at 0x\w+: (_?PyObject_(CallNoArgs|MakeTpCall)|Python) {re.escape(WAY)};", note
    )


@pytest.mark.rotated
@pytest.mark.parametrize("version", cases())
def test_a_call_behind_the_end_of_python(version, crash):
    note = crash("at_exit", interpreters()[version])
    assert re.search(r"PyList_New was called when Python had ended, by unlocked\.\S*so at exit \(a static", note)


@pytest.mark.parametrize(("way", "address"), [("locked", 16), ("of_its_own", 8)])
def test_other_crashes_are_not_blamed_on_it(way, address, crash):
    lies = f"a null pointer and {address} bytes: a member or element of nothing"
    assert crash(way) == f"SIGSEGV (Segmentation fault) at {address:#x}: {lies}"


@pytest.mark.parametrize("gdb", [None, ""], ids=["gdb", "no gdb"])
def test_the_report_of_a_crash(gdb, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(builds.unlocked_calls(sys.executable))}
    if gdb is not None:
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "python3").symlink_to(sys.executable)
        environment |= {"PYHARNESS_GDB": gdb, "PATH": str(tmp_path / "bin")}
    command = [*PYHARNESS, "run", "--report", str(tmp_path), str(PROGRAM), "raises"]
    subprocess.run(command, capture_output=True, check=False, timeout=120, env=environment)
    (report,) = (json.loads(file.read_text()) for file in tmp_path.glob("crash-*.json"))
    assert f"PyErr_SetString {WAY}; a null pointer and " in report["what"]
    assert (report["note"] == "") == (gdb is None)

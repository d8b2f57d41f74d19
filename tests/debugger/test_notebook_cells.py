"""The lines of code that is in no file, such as a notebook's cell: the program's memory has them, alive and dead."""

import subprocess
import sys

import pytest

import pyharness as in_process
from kit.interpreters import cases, readable
from kit.paths import PROGRAMS
from pyharness.model.errors import UsageError

PROGRAM = PROGRAMS / "notebook_cells.py"
NAMES = ["/nowhere/ipykernel_77/12.py", "<ipython-input-3-abc>"]
LINES = {"seen = crossing.held(number)", "cell(7)"}


@pytest.fixture
def waiting(request):
    """The pid of a program that waits in a cell; the interpreter and the cell's name are the parameters."""

    def start(python, name):
        program = subprocess.Popen([python, PROGRAM, "wait", name], stdout=subprocess.PIPE, text=True)
        request.addfinalizer(lambda: (program.kill(), program.communicate()))
        assert program.stdout.readline() == "ready\n"
        return program.pid

    return start


def check_lines(text, name):
    """Both frames of the cell have their lines; not as a file that is here."""
    assert "time.sleep(number)" in text
    assert "cell(60)" in text
    assert name in text


@pytest.mark.rotated
@pytest.mark.parametrize("interpreter", cases(readable()))
def test_a_stack_alive(pyharness, waiting, interpreter):
    pid = waiting(readable()[interpreter], NAMES[0])
    check_lines(pyharness("stack", pid).stdout, NAMES[0])


@pytest.mark.rotated
@pytest.mark.parametrize("name", [*NAMES, "<timeit-src>"])
def test_a_stack_alive_by_gdb_and_of_a_core(pyharness, waiting, tmp_path, name):
    pid = waiting(sys.executable, name)
    check_lines(pyharness("stack", pid, "--locals").stdout, name)
    subprocess.run(["gcore", "-o", tmp_path / "core", str(pid)], check=True, capture_output=True)
    check_lines(pyharness("stack", tmp_path / f"core.{pid}").stdout, name)


@pytest.mark.parametrize("name", NAMES)
def test_a_native_stop(pyharness, crossing, environment, name):
    """No stop in Python came before it, at which debugpy would tell the lines."""
    environment["PYTHONPATH"] = crossing
    where = ("--at", "native:crossing::held", "--stack", "--", "stop", name)
    done = pyharness("step", PROGRAM, *where)
    assert all(line in done.stdout for line in LINES), done.stdout + done.stderr


def test_a_place_in_a_cell_once_it_was_seen(crossing):
    place = f"py:{NAMES[0]}:5"
    with in_process.debug(PROGRAM, "stop", NAMES[0], env={"PYTHONPATH": crossing}) as program:
        with pytest.raises(UsageError, match="There is no file"):
            program.run_to(place)
        program.run_to("native:crossing::held")
        assert program.stack()
        stop = program.run_to(place)
        assert (stop.frame.file, stop.frame.line, stop.frame.function) == (NAMES[0], 5, "cell")

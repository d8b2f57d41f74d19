"""A program and the processes that it starts, at one prompt."""

import sys

import pytest

from kit.command import PYHARNESS
from kit.dialogue import blocks
from kit.interpreters import cases, interpreters
from kit.marks import line_of, place
from kit.paths import PROGRAMS
from kit.processes import ends_within
from kit.terminal import Terminal

SCRIPT = PROGRAMS / "family.py"
WORK = place("work", SCRIPT)
pytestmark = [pytest.mark.timeout(120), pytest.mark.rotated_tests(turns=8)]


@pytest.fixture
def family(pyharness):
    """``family(COMMANDS, OPTIONS, WAYS)``: what ``pyharness debug --children`` makes of commands from a pipe."""

    def run(commands, options, ways, **more):
        lines = "".join(f"{each}\n" for each in commands)
        words = ["debug", "--children", *options, SCRIPT, "--", *ways]
        return pyharness(*words, stdin=None, input=lines, **more)

    return run


@pytest.mark.rotated(turns=5)
@pytest.mark.parametrize(
    ("way", "name"),
    [
        ("fork", "fork (work)"),
        ("spawn", "spawn"),
        ("pool", "fork"),
        ("python", "family.py"),
        ("loader", "Process-1 (_worker_loop)"),
    ],
)
def test_a_place_stops_in_a_process_that_the_program_starts(family, way, name):
    done = family(["processes", "n", "p doubled", "c"], ["--at", WORK], [way])
    shown = blocks(done.stdout.replace(f"(ph {heading(done.stdout)})", "(ph)"))
    stops = [line for line in done.stdout.splitlines() if line.startswith("1  breakpoint · python · work · ")]
    assert [line.endswith(f"/{SCRIPT.name}:{line_of('work', SCRIPT)}") for line in stops] == [True]
    listed = [line.split(maxsplit=2) for line in shown["processes"].splitlines()]
    assert listed[0][0] == "1"
    assert listed[0][2] == "family.py  runs"
    assert f"{name}  stands in work" in shown["processes"]
    assert "return doubled" in shown["n"]
    assert shown["p doubled"].strip() == "42"
    assert "all are done" in done.stdout
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.rotated
@pytest.mark.parametrize("version", cases())
def test_under_every_python(family, version):
    done = family(["c", "c"], ["--python", interpreters()[version], "--at", WORK], ["fork", "spawn"])
    assert done.stdout.count("1  breakpoint · python · work · ") == 2
    assert (done.returncode, done.stderr) == (0, "")


def heading(output):
    """Which process the first prompt was of."""
    return output.partition("(ph ")[2].partition(")")[0]


def test_several_stand_and_one_speaks_at_a_time(family):
    commands = ["process 1", "p 40 + 1", "process 2: p number", "all: p 6 * 7", "process 2", "all: c"]
    done = family(commands, ["--at", WORK], ["fork"])
    assert "(ph process 1) p 40 + 1\n41\n" in done.stdout
    assert "process 2\n21\n" in done.stdout
    assert "(ph process 1) all: p 6 * 7\n42\nprocess 2\n42\n" in done.stdout
    assert done.returncode == 0, done.stderr


DAEMON = """
import os
def work(number):
    doubled = 2 * number
    return doubled
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
print("daemon", work(2))
"""


def test_a_place_that_was_deleted_where_it_was_reached_was_reached(pyharness, tmp_path):
    (tmp_path / "daemon.py").write_text(DAEMON)
    words = ["debug", "--children", "--at", "py:daemon.py:work", "daemon.py"]
    done = pyharness(*words, stdin=None, input="delete\nc\n", cwd=tmp_path)
    assert "daemon 4" in done.stdout
    assert "No process reached" not in done.stderr


def test_a_place_that_no_process_reaches_is_told_once(family):
    done = family(["c"], ["--at", WORK, "--at", "native:nowhere"], ["fork"])
    assert done.stderr.count("No process reached native:nowhere. No loaded native code has native:nowhere.") == 1
    assert "family.py" not in done.stderr
    assert done.returncode == 0


def test_the_first_prompt_is_at_the_first_line_and_children_run(family):
    done = family(["tbreak work", "c", "c"], [], ["spawn"])
    assert "1  entry · python · <module>" in done.stdout
    assert "(ph process 1) tbreak" in done.stdout
    assert " · python · work · " in done.stdout
    assert (done.returncode, done.stderr) == (0, "")


def test_quit_ends_all_of_them_and_detach_leaves_them_running(family):
    stop = ["--at", place("long", SCRIPT)]
    done = family(["p __import__('os').getpid()", "quit"], stop, ["long"])
    pid = int(blocks(done.stdout.replace("(ph process 2)", "(ph)"))["p __import__('os').getpid()"])
    assert ends_within(pid, 5)
    assert done.returncode == 0, done.stderr
    done = family(["detach"], ["--at", WORK], ["fork"])
    assert "The program runs on without a debugger (process " in done.stdout
    assert ends_within(int(done.stdout.rpartition("(process ")[2].partition(")")[0]), 30)


def test_a_process_that_runs_is_paused_when_one_goes_there(environment):
    at = Terminal([*PYHARNESS, "debug", "--children", str(SCRIPT), "--", "long"], environment)
    try:
        at.wait_for("(ph process 1)")
        at.type("c\n")
        at.wait_for("works long")
        at.type("\x03")
        at.wait_for("pause ·")
        at.type("process 2\n")
        at.wait_for("· long_work ·")
        at.type("p number > 0\n")
        at.wait_for("True")
        at.type("quit\n")
        assert at.ends() == 0
    finally:
        at.end()


@pytest.mark.parametrize(
    ("options", "says", "remedy"),
    [
        ([str(SCRIPT), "--ranks", "0"], "--ranks and --children do not go together.", "Ranks of a job"),
        (["1"], "--children needs a program to start, and 1 is none.", "pyharness debug --children SCRIPT"),
        ([str(SCRIPT), "--debug-kernels"], "--children takes no --debug-kernels.", "pyharness debug SCRIPT"),
        (["no_such.py"], "There is no script 'no_such.py'.", ""),
        ([str(SCRIPT), "--python", "/no/python"], "There is no Python interpreter '/no/python'", ""),
    ],
)
def test_what_is_no_program_to_start(pyharness, options, says, remedy):
    done = pyharness("debug", "--children", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert remedy in done.stderr


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("process 7", "Process 7 is not there."),
        ("process x", "'x' is no process."),
        ("run", "`run` is of one program."),
        ("all: quit", "'quit' is nothing that a process does."),
    ],
)
@pytest.mark.rotated(turns=6)
def test_what_cannot_be_done(family, line, says):
    done = family([line], [], [])
    assert done.returncode == 1
    assert says in done.stderr


def test_a_python_that_reads_no_variables_is_told(pyharness, tmp_path):
    apart = tmp_path / "apart"
    apart.write_text(f'#!/bin/sh\nexec {sys.executable} -E "$@"\n')
    apart.chmod(0o755)
    done = pyharness("debug", "--children", "--python", apart, SCRIPT, stdin=None, input="c\n")
    assert done.returncode == 1
    assert "The program ended with 0, and no Python of it called in." in done.stderr

"""Programs in containers, and a debugger outside: other files, process ids, networks and users."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import pyharness
from kit import builds, needs
from kit.interpreters import cases, interpreters
from kit.marks import line_of
from kit.paths import PROGRAMS
from pyharness.model.errors import HarnessError, UsageError

pytestmark = pytest.mark.rotated_tests(turns=5)


PROGRAM, SOURCE = PROGRAMS / "ledger.py", PROGRAMS / "tally.c"
USER = ("--user", "--map-root-user")
KINDS = [(), ("--net",), USER, ("--net", "--ipc", "--uts", *USER)]


def python(mark):
    return "python", "/app/ledger.py", line_of(mark, PROGRAM)


def native(mark):
    return "native", "/app/tally.c", line_of(mark, SOURCE)


def at(stop):
    return stop.frame.language, stop.frame.file, stop.frame.line


def place(mark):
    return f"py:ledger.py:{line_of(mark, PROGRAM)}"


def come_to(program, where, container, text):
    """The stop at a place that the program comes to when it hears the text."""
    there = program.set_breakpoint(where)
    container.say(f"{text}\n")
    try:
        return program.resume()
    finally:
        program.clear_breakpoint(there)


@pytest.mark.rotated_tests(turns=1, number=0)
@pytest.mark.rotated
@pytest.mark.parametrize("options", KINDS, ids=lambda options: " ".join(options) or "other files and processes")
def test_both_halves_from_outside(contained, options):
    container = contained(*options)
    with pyharness.attach(container.pid) as program:
        assert at(come_to(program, place("calls"), container, "4")) == python("calls")
        stop = program.into()
        assert at(stop) == native("first")
        assert stop.thread == program.pid == container.pid
        assert program.evaluate("native:weigh(7)") == "21"
        assert program.evaluate("py:number * 2") == "8"
        assert at(program.out()) == python("after")
        assert at(come_to(program, "native:weigh", container, "5")) == native("weight")
        assert program.evaluate("native:number") == "5"
        assert at(program.out()) == native("weighs")
        assert at(program.over()) == native("calls_back")
        assert at(program.into()) == python("heard")
    assert (container.hear(), container.hear()) == ("13", "16")
    assert container.end() == (0, "temporary []\n", "")


@pytest.mark.rotated
@pytest.mark.parametrize("version", cases())
def test_another_python_than_ours(contained, version):
    container = contained(python=interpreters()[version])
    with pyharness.attach(container.pid) as program:
        assert at(come_to(program, place("calls"), container, "4")) == python("calls")
        assert at(program.into_native()) == native("first")
        assert at(program.out()) == python("after")
        assert at(come_to(program, "native:weigh", container, "5")) == native("weight")
        assert at(program.out()) == native("weighs")
    assert (container.hear(), container.hear()) == ("13", "16")
    assert container.end() == (0, "temporary []\n", "")


def test_a_second_session_brings_nothing_again(contained):
    container = contained()
    descriptors = container.descriptors
    for number in (1, 2):
        with pyharness.attach(container.pid) as program:
            assert at(come_to(program, place("calls"), container, str(number))) == python("calls")
        assert container.hear() == str(3 * number + 1)
        assert len(container.files("tmp")) == 1
        assert container.descriptors == descriptors
    assert container.end() == (0, "temporary []\n", "")


def test_a_thread_beside_the_main_one_has_our_number(contained):
    container = contained()
    with pyharness.attach(container.pid) as program:
        stop = come_to(program, place("calls"), container, "besides")
        assert stop.thread != program.pid
        assert stop.thread in container.threads
        assert program.into().thread == stop.thread
        assert at(program.out()) == python("after")
    assert container.end()[0] == 0


def test_two_debuggers_do_not_meet(contained):
    container = contained()
    with pyharness.attach(container.pid), pytest.raises(HarnessError, match="is being debugged already"):
        pyharness.attach(container.pid)
    assert container.end() == (0, "temporary []\n", "")


def test_nothing_can_be_written_in_there(contained):
    container = contained(before=("sh", "-c", 'mount -o remount,ro,bind / && exec "$@"', "sh"))
    with pytest.raises(HarnessError, match="no folder takes pyharness's modules") as raised:
        pyharness.attach(container.pid)
    assert "--tmpfs /tmp" in raised.value.remedy
    container.say("4\n")
    assert container.hear() == "13"
    assert container.end() == (0, "temporary []\n", "")


def test_a_place_that_only_we_have(contained, tmp_path):
    container = contained()
    mine = tmp_path / "mine.py"
    mine.write_text("pass\n")
    with pyharness.attach(container.pid) as program, pytest.raises(UsageError, match="There is no file"):
        program.run_to(f"py:{mine}:1")
    assert container.end()[0] == 0


def test_a_program_without_streams_gets_no_socket_in_their_place(contained):
    container = contained(before=("sh", "-c", 'exec "$@" 2>&-', "sh"))
    with pyharness.attach(container.pid) as program:
        assert at(come_to(program, place("calls"), container, "4")) == python("calls")
        assert not Path(f"/proc/{container.pid}/fd/2").exists()
    assert container.end()[0] == 0


@pytest.mark.rotated
@pytest.mark.parametrize("where", ["op:aten::mul", "node:MulBackward0", "fx:relu"])
def test_places_that_need_the_same_files_are_refused(contained, where):
    container = contained()
    with pyharness.attach(container.pid) as program:
        with pytest.raises(HarnessError, match="sees other files") as raised:
            program.set_breakpoint(where)
        assert "docker exec" in raised.value.remedy
        assert at(come_to(program, place("calls"), container, "4")) == python("calls")
    assert container.hear() == "13"


def test_child_processes_run_on(contained):
    container, told = contained(), []
    with pyharness.attach(container.pid, children=True, progress=told.append):
        assert any("child processes are not debugged" in text for text in told)
    assert container.end()[0] == 0


KILLED = """
import sys, pyharness
program = pyharness.attach(int(sys.argv[1]))
there = program.set_breakpoint(sys.argv[2])
print("set", flush=True)
print(program.resume().frame.line, flush=True)
sys.stdin.read()
"""


@pytest.mark.rotated
@pytest.mark.parametrize("where", ["calls", "native:weigh"])
def test_a_debugger_that_is_killed_leaves_a_program_that_runs_on(contained, where):
    container = contained()
    place_there = where if ":" in where else f"py:/app/ledger.py:{line_of(where, PROGRAM)}"
    command = [sys.executable, "-c", KILLED, str(container.pid), place_there]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, text=True, **pipes) as debugger:
        assert debugger.stdout.readline() == "set\n"
        container.say("4\n")
        assert int(debugger.stdout.readline()) > 0
        debugger.kill()
    assert container.hear() == "13"
    with pyharness.attach(container.pid) as program:
        assert at(come_to(program, place("after"), container, "5")) == python("after")
    assert container.hear() == "16"
    assert container.end() == (0, "temporary []\n", "")


@pytest.mark.rotated
@pytest.mark.parametrize("how", [("--pid", "--mount-proc"), ("--net",)], ids=" ".join)
def test_what_sees_our_files_is_sent_none(how):
    module = builds.tally(sys.executable, str(PROGRAMS))
    before = needs.surroundings(["unshare", "--fork", "--kill-child", *how], "namespaces")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "env": {**os.environ, "PYTHONPATH": str(module)}}
    with subprocess.Popen([*before, sys.executable, PROGRAM], text=True, **pipes) as outer:
        assert outer.stdout.readline() == "ready\n"
        (inner,) = Path(f"/proc/{outer.pid}/task/{outer.pid}/children").read_text().split()
        with pyharness.attach(int(inner)) as program:
            there = program.set_breakpoint(f"py:{PROGRAM}:{line_of('calls', PROGRAM)}")
            outer.stdin.write("4\n")
            outer.stdin.flush()
            assert program.resume().frame.function == "entry"
            assert program.into().frame.file == str(SOURCE)
            assert program.out().frame.line == line_of("after", PROGRAM)
            program.clear_breakpoint(there)
            brought = program.evaluate("py:__import__('pyharness.debuggee.link.handed', fromlist=['*']).Brought.folder")
        assert brought == "''"
        assert outer.stdout.readline() == "13\n"
        outer.communicate()

"""Handlers of signals in C++: alarms that come while a thread stands or steps, and a signal that the program sends."""

import time
from pathlib import Path

import pytest

from kit import builds
from kit.marks import line_of
from kit.paths import PROGRAMS, search_path
from pyharness.debugger.api.program import Program

pytestmark = pytest.mark.rotated_tests(turns=2)

SOURCE = PROGRAMS / "signalled.cpp"
ALARM = 1 << 13
"""SIGALRM in a mask of signals."""


@pytest.fixture
def signalled(debugged, crossing, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", search_path(crossing, str(builds.crossing("signalled", SOURCE))))
    return debugged("runs_handlers.py")


def mark(program: Program):
    """The mark of the line at which it stands."""
    frame = program.stop.frame
    return Path(frame.file).read_text().splitlines()[frame.line - 1].rpartition("@")[2]


def until_an_alarm_waits(program: Program):
    """An alarm has come, and the thread that takes alarms stands."""
    waiting, deadline = 0, time.monotonic() + 30
    while not waiting & ALARM:
        assert time.monotonic() < deadline, "no alarm comes"
        status = Path(f"/proc/{program.pid}/status").read_text()
        masks = dict(line.split(":\t") for line in status.splitlines())
        waiting = int(masks["ShdPnd"], 16) | int(masks["SigPnd"], 16)


def test_a_call_of_the_debuggers_while_an_alarm_waits(signalled):
    """gdb calls functions where no handler could run: the kernel ended the program's thread."""
    with signalled.start("alarms") as program:
        program.run_to("native:signalled::count")
        until_an_alarm_waits(program)
        assert program.evaluate("py:MILLISECOND + 1") == "1001"
        program.over()
        assert mark(program) == "loop"
        until_an_alarm_waits(program)
        assert program.evaluate("native:signalled::count(4)") == "6"
        program.out()
        assert mark(program) == "counted"
        assert program.finish() == 0
    assert signalled.output.splitlines() == ["499500"]


def test_an_alarm_is_no_part_of_what_is_stepped_into(signalled):
    with signalled.start("alarms") as program:
        program.run_to(signalled.at("counts"))
        program.into()
        assert mark(program) == "count"
        program.over()
        assert mark(program) == "loop"
        program.out()
        assert mark(program) == "counted"
        assert program.evaluate("total") == "499500"


def test_an_alarm_ends_no_step_into_a_line_of_native_code(signalled):
    """gdb's own step is over where the handler's trap is: it went on to Python, or stayed at the line for ever."""
    with signalled.start("alarms") as program:
        program.run_to("native:signalled::count")
        lines = []
        for _ in range(6):
            until_an_alarm_waits(program)
            stop = program.into()
            lines.append((stop.frame.function, stop.frame.line))
        first = line_of("loop", SOURCE)
        assert lines == [("signalled::count", first + number % 2) for number in range(6)]
        assert program.finish() == 0


def test_a_signal_that_a_line_sends_is_a_part_of_it(signalled):
    with signalled.start("sent") as program:
        program.run_to(signalled.at("sends"))
        program.into()
        program.run_to("native:signalled::on_user_signal")
        assert mark(program) == "handler"
        program.out()
        assert mark(program) == "sent"
        program.out()
        assert mark(program) == "kills"
        program.into()
        assert mark(program) == "handler"
        program.over()
        program.over()
        assert mark(program) == "killed"
        assert program.evaluate("rings") == "100"
        assert program.finish() == 0

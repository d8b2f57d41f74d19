"""Steps that cross between the halves of a compound: a real debugpy, and the real adapter's commands to a real gdb."""

import queue
import subprocess
import sys
from contextlib import contextmanager

import pytest
from miengine import PATIENCE, MIEngine, configuration

from kit import builds, marks
from kit.debugpy_adapter import DebugpyAdapter
from kit.paths import ROOT, search_path
from pyharness.gdbmi.client import GdbError

pytestmark = pytest.mark.rotated_tests(turns=2)

PROGRAM = ROOT / "tests/programs/core_crossing.py"
SOURCE = builds.CROSSING


def line_of(mark, file=PROGRAM):
    return marks.line_of(mark, file)


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    """What VS Code's processes inherit; gdb and the program share it."""
    monkeypatch.setenv("PYTHONPATH", search_path(builds.crossing()))
    monkeypatch.setenv("PYHARNESS_HOME", str(tmp_path / "state"))


class PythonHalf:
    """A session of type debugpy."""

    def __init__(self):
        self.events = queue.Queue()
        self.client = DebugpyAdapter(self.events.put)

    def event(self, name):
        """The next event of that name."""
        while True:
            event = self.events.get(timeout=PATIENCE)
            assert event is not None, "debugpy's adapter ended"
            if event["event"] == name:
                return event.get("body") or {}

    def start(self, wanted, *marks):
        self.client.request("initialize", {"adapterID": "debugpy", "pathFormat": "path"})
        self.client.post("launch", {**wanted, "python": sys.executable, "console": "internalConsole"})
        self.event("initialized")
        lines = [{"line": line_of(mark)} for mark in marks]
        self.client.request("setBreakpoints", {"source": {"path": str(PROGRAM)}, "breakpoints": lines})
        self.client.post("configurationDone")

    def stop(self):
        """Why, and in which function and line the next stop is."""
        stop = self.event("stopped")
        self.thread = stop["threadId"]
        frame = self.client.request("stackTrace", {"threadId": self.thread})["stackFrames"][0]
        return stop["reason"], frame["name"], frame["line"]

    def go(self, command):
        """Resume by ``command``; the IDE must hear of it whatever gdb does then."""
        self.client.post(command, {"threadId": self.thread})
        self.event("continued")


@contextmanager
def compound(*marks):
    """Both halves, stopped at the first of the marks."""
    with MIEngine(configuration("gdb half")) as engine:
        python = PythonHalf()
        try:
            python.start(configuration("Python half: this file", file=str(PROGRAM)), *marks)
            engine.initialize()
            engine.resume()
            assert python.stop() == ("breakpoint", "main", line_of(marks[0]))
            yield engine, python
        finally:
            python.client.close()


def functions(engine, stop):
    return [frame["func"] for frame in engine.frames(stop)]


def test_into_native_code_and_out_to_the_next_python_line():
    with compound("held") as (engine, python):
        python.go("stepIn")
        stop = engine.stop()
        assert (stop["reason"], stop["signal-name"]) == ("signal-received", "SIGTRAP")  # no breakpoint of VS Code's
        assert (stop["frame"]["func"], int(stop["frame"]["line"])) == ("crossing::held", line_of("held", SOURCE))
        assert functions(engine, stop)[:3] == ["crossing::held", "main", "<module>"]
        engine.command("-exec-finish")
        assert python.stop() == ("step", "main", line_of("released"))


def test_out_of_native_code_goes_to_native_code_that_called():
    with compound("held") as (engine, python):
        engine.command(f"-break-insert -f -t {SOURCE}:{line_of('scaled', SOURCE)}")
        python.go("continue")
        assert functions(engine, engine.stop())[:3] == ["crossing::scaled", "crossing::held", "main"]
        engine.command("-exec-finish")
        stop = engine.stop()
        assert functions(engine, stop)[:2] == ["crossing::held", "main"]
        engine.command("-exec-finish")
        assert python.stop()[1:] == ("main", line_of("released"))


def test_a_line_without_native_code_leaves_no_traps():
    with compound("nothing") as (engine, python):
        python.go("stepIn")
        assert python.stop() == ("step", "main", line_of("comprehension"))
        evaluated = python.client.request("stackTrace", {"threadId": python.thread})["stackFrames"][0]["id"]
        asked = {"expression": "crossing.held(20)", "frameId": evaluated, "context": "repl"}
        assert python.client.request("evaluate", asked)["result"] == "41"
        assert engine.stops.empty()


def test_steps_in_a_row():
    with compound("loop") as (engine, python):
        for number in range(5):
            python.go("stepIn")
            stop = engine.stop()
            assert stop["frame"]["func"] == "crossing::held"
            assert engine.command("-data-evaluate-expression value")["value"] == str(number)
            engine.command("-exec-finish")
            assert python.stop()[1:] == ("main", line_of("loop") - 1)
            python.go("next")
            assert python.stop()[1:] == ("main", line_of("loop"))


def test_without_a_python_debugger_the_way_out_to_python_is_refused():
    wanted = configuration("Python half: this file", file=str(PROGRAM))
    program = subprocess.Popen(
        [sys.executable, "-m", wanted["module"], *wanted["args"]], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    with MIEngine(configuration("gdb half")) as engine:
        engine.initialize()
        engine.set_breakpoint(f"{SOURCE}:{line_of('held', SOURCE)}")
        engine.resume()
        engine.stop()
        with pytest.raises(GdbError, match="No Python debugger is in this program"):
            engine.command("-exec-finish")
        engine.terminate()
    program.communicate(b"\n", timeout=PATIENCE)
    assert program.returncode == 7

"""Expressions and conditions whose native code crashes, throws, or never comes back with the GIL: told, and left."""

import re

import pytest

from kit.builds import crossing as built
from kit.gdb import tells_stops_in_calls
from kit.marks import line_of
from kit.paths import PROGRAMS, search_path
from pyharness.model.errors import HarnessError

SOURCE = PROGRAMS / "dangerous.cpp"
WHERE = f" in dangerous::crash, dangerous.cpp:{line_of('crashes', SOURCE)}"
CRASH = f"was ended by SIGSEGV{WHERE if tells_stops_in_calls() else ''}"
"""The crash of a call that gdb makes."""


@pytest.fixture
def endangered(debugged, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", search_path(str(built("dangerous", SOURCE))))
    return debugged("endangered.py")


def stands_at(stop, mark):
    return stop.frame.function == "dangerous::add" and stop.frame.line == line_of(mark, SOURCE)


@pytest.mark.rotated
@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("dangerous::crash(0)", CRASH),
        ("dangerous::throws()", "was ended by SIGABRT"),
        ("dangerous::spins_without_gil(60)", "took longer than 1 s and was ended"),
    ],
)
def test_in_cpp_the_call_is_dropped_and_steps_go_on(endangered, expression, said):
    with endangered.start(eval_timeout=1.0) as program:
        assert stands_at(program.run_to("native:dangerous::add"), "first")
        with pytest.raises(HarnessError, match=re.escape(f"'{expression}' {said}")) as error:
            program.evaluate(expression)
        assert "unwindonsignal" not in str(error.value)
        assert program.evaluate("first") == "1"
        assert stands_at(program.over(), "second")
        assert program.evaluate("py:1 + 1") == "2"
        assert program.out().frame.language == "python"
        assert program.finish() == 0
    assert endangered.output.splitlines()[-2:] == ["3", "behind"]


def test_in_python_at_a_native_stop_it_is_said_what_is_lost(endangered):
    with endangered.start() as program:
        program.run_to("native:dangerous::add")
        for ask in (lambda: program.evaluate("py:dangerous.crash(0)"), program.over):
            with pytest.raises(HarnessError, match=re.escape(f"'dangerous.crash(0)' {CRASH}, in the midst of Python.")):
                ask()
        program.kill()


def test_in_python_at_a_python_stop_the_crash_is_the_next_stop(endangered):
    with endangered.start(crashes=True) as program:
        program.run_to("native:dangerous::add")
        program.out()
        for _ in range(2):
            with pytest.raises(HarnessError, match=re.escape(f"'dangerous.crash(0)' was ended by SIGSEGV{WHERE}.")):
                program.evaluate("dangerous.crash(0)")
        with pytest.raises(HarnessError, match="Its thread stands where it crashed"):
            program.stack()
        stop = program.over()
        assert (stop.reason, stop.frame.function) == ("signal", "dangerous::crash")
        program.kill()


@pytest.mark.rotated
@pytest.mark.parametrize(("condition", "said"), [("crash(0)", CRASH), ("throws()", "was ended by SIGABRT")])
@pytest.mark.parametrize("hits", ["", " hits >= 1"])
def test_a_condition_that_crashes_is_one_that_could_not_be_tested(endangered, condition, said, hits):
    with endangered.start(crashes=True) as program:
        stop = program.run_to(f"native:dangerous::add if dangerous::{condition}{hits}")
        assert stands_at(stop, "first")
        assert (stop.reason, stop.condition_failed) == ("breakpoint", True)
        assert f"the condition could not be tested: what it calls {said}" in stop.note
        assert stands_at(program.over(), "second")
        assert program.finish() == 0

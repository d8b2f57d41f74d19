"""A thread of C++ that stands while another waits for it with the GIL: Python answers on the one that waits."""

import re

import pytest

from kit import builds
from kit.debugged_program import source_line
from kit.marks import line_of
from kit.paths import PROGRAMS, search_path

SOURCE, PROGRAM = PROGRAMS / "joined.cpp", PROGRAMS / "joins_thread.py"
JOIN = next(number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) if "thread.join()" in line)


@pytest.fixture
def joins(debugged, crossing, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", search_path(crossing, str(builds.crossing("joined", SOURCE))))
    return debugged("joins_thread.py")


def test_python_is_asked_on_the_thread_that_waits_and_steps_go_on(joins):
    with joins.start() as program:
        stop = program.run_to("native:joined::work")
        assert stop.frame.line == source_line("work", SOURCE)
        assert program.evaluate("py:joined.__name__ + '!'") == "'joined!'"
        assert program.evaluate("__import__('threading').current_thread().name") == "'MainThread'"
        assert program.evaluate("number") == "4"
        assert {each.function for each in program.stack()} >= {"joined::work"}
        assert "<module>" not in {each.function for each in program.stack()}
        assert program.over().frame.line == source_line("more", SOURCE)
        program.set_breakpoint(joins.at("printed"))
        assert program.resume().frame.language == "python"
        assert program.evaluate("total") == "9"
        assert program.finish() == 0


def test_a_step_out_ends_where_the_one_that_waits_goes_on(joins):
    with joins.start() as program:
        program.run_to("native:joined::work")
        out = program.out()
        assert (out.frame.function, out.thread) == ("joined::run", program.pid)
        assert out.frame.line in (JOIN, JOIN + 1)
        assert program.out().frame.language == "python"
        assert program.finish() == 0


def test_it_is_let_go_from_there(joins):
    with joins.start() as program:
        program.run_to("native:joined::work")
        assert program.evaluate("py:1") == "1"
        assert program.finish() == 0
    assert joins.output == "9\n"


def test_the_stack_of_whom_it_works_for_is_behind_its_own(pyharness, environment):
    """The variables of both languages can be looked at there."""
    module = str(builds.crossing("joined", SOURCE))
    commands = "p result\nbt\nup\np thread\nup\np sorted(globals())[-1]\np joined.nothing\n"
    words = ("debug", PROGRAM, "--at", "native:joined::work")
    done = pyharness(*words, stdin=None, input=commands, env={**environment, "PYTHONPATH": module})
    stack = done.stdout.split("bt\n")[1].partition("(ph")[0].replace("→", " ").splitlines()
    rows = [line.split()[1:4] for line in stack if "works for" not in line]
    assert [(function, place.rpartition("/")[2]) for _, function, place in filter(None, rows)] == [
        ("joined::work", f"joined.cpp:{line_of('work', SOURCE)}"),
        ("joined::run", f"joined.cpp:{JOIN}"),
        ("<module>", f"joins_thread.py:{line_of('printed', PROGRAM) - 1}"),
    ]
    assert re.fullmatch(r" *works for thread \d+ \(MainThread\):", stack[1])
    assert "native · joined::run" in done.stdout
    assert "joins_thread.py" in done.stdout
    assert "module 'joined' has no attribute 'nothing'" in done.stderr

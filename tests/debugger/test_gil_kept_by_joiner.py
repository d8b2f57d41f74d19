"""A thread of C++ that stands while another waits for it with the GIL: Python cannot answer, and nothing hangs."""

import pytest

from kit import builds
from kit.debugged_program import source_line
from kit.paths import PROGRAMS, search_path
from pyharness.model.errors import HarnessError

SOURCE = PROGRAMS / "joined.cpp"


@pytest.fixture
def joins(debugged, crossing, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", search_path(crossing, str(builds.crossing("joined", SOURCE))))
    return debugged("joins_thread.py")


def test_an_expression_of_python_is_refused_and_steps_go_on(joins):
    with joins.start() as program:
        program.set_breakpoint(joins.at("printed"))
        stop = program.run_to("native:joined::work")
        assert stop.frame.line == source_line("work", SOURCE)
        refused = f"Python cannot answer: thread {program.pid} holds the GIL and waits in native code"
        for expression in ("py:1 + 1", "nowhere"):
            with pytest.raises(HarnessError, match=refused):
                program.evaluate(expression)
        assert program.evaluate("number") == "4"
        assert program.over().frame.line == source_line("more", SOURCE)
        with pytest.raises(HarnessError, match=refused):
            program.set_breakpoint(joins.at("printed"))
        assert program.resume().frame.language == "python"
        assert program.evaluate("total") == "9"
        assert program.finish() == 0


def test_it_is_let_go_from_there(joins):
    with joins.start() as program:
        program.run_to("native:joined::work")
        with pytest.raises(HarnessError):
            program.evaluate("py:1")
        assert program.finish() == 0
    assert joins.output == "9\n"

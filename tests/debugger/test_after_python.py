"""C++ that runs when Python has ended is stepped through all the same."""

import pytest

from kit import builds
from kit.debugged_program import source_line
from kit.paths import PROGRAMS, search_path
from pyharness.model.errors import HarnessError

SOURCE = PROGRAMS / "tidies_up.cpp"


def test_a_static_destructor_is_stepped_through(debugged, crossing, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", search_path(crossing, str(builds.crossing("tidies_up", SOURCE))))
    ends = debugged("ends_in_cpp.py")
    with ends.start() as program:
        stop = program.run_to("native:tidies_up::Kept::~Kept")
        assert stop.frame.line == source_line("first", SOURCE)
        assert program.over().frame.line == source_line("second", SOURCE)
        assert program.evaluate("number") == "8"
        with pytest.raises(HarnessError, match="its Python has ended"):
            program.evaluate("py:1")
        assert program.finish() == 0
    assert ends.output == "7\nkept 8\n"

"""An extension built with -O2: steps show lines of the user's, not of what is inlined among them."""

import json
import os

import pytest

from kit import builds
from kit.builds import OPTIMIZED
from kit.debugged_program import source_line
from kit.marks import line_of
from kit.paths import PROGRAMS


@pytest.fixture
def optimized(debugged, monkeypatch):
    folder = builds.crossing("optimized", OPTIMIZED, "-O2")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ["PYTHONPATH"]]))
    return debugged("core_optimized.py")


def at(stop):
    return stop.frame.function, stop.frame.file, stop.frame.line


def test_into_and_over_stay_in_the_users_source(optimized):
    with optimized.start() as program:
        program.run_to(optimized.at("total"))
        seen = [at(program.into())]
        while (stop := program.over()).frame.language == "native":
            seen.append(at(stop))
        assert {(function, file) for function, file, _ in seen} == {("optimized::total", str(OPTIMIZED))}
        assert {source_line("sum", OPTIMIZED), source_line("total_return", OPTIMIZED)} <= {line for *_, line in seen}
        assert (stop.frame.function, stop.frame.line) == ("main", optimized.line("print"))


def test_into_a_function_whose_first_instruction_is_inlined(optimized):
    with optimized.start() as program:
        program.run_to(optimized.at("total"))
        stop = program.into()
        while stop.frame.line != source_line("total_return", OPTIMIZED):
            stop = program.over()
        assert at(program.into()) == ("optimized::count", str(OPTIMIZED), source_line("count", OPTIMIZED))
        assert at(program.out())[:2] == ("optimized::total", str(OPTIMIZED))


@pytest.mark.parametrize("comes", [("--at", "native:total"), ("--at", "py:{}:{}", "--into-native")], ids=["at", "into"])
def test_of_clang_a_function_that_begins_in_inlined_code_is_itself(pyharness, comes):
    program, source = PROGRAMS / "begins_inlined.py", PROGRAMS / "begins_inlined.c"
    words = [word.format(program.name, line_of("call", program)) for word in comes]
    shown = ("--print", "range == 0", "--stack", "--out", "--json")
    done = pyharness("step", program, *words, *shown, "--", builds.begins_inlined())
    *_, stop, outside = json.loads(done.stdout)["stops"]
    assert [stop[name] for name in ("function", "file", "line")] == ["total", str(source), line_of("total", source)]
    assert stop["printed"] == {"range == 0": "0"}
    assert [frame["function"] for frame in stop["stack"] if not frame["plumbing"]] == ["total", "main", "<module>"]
    assert (outside["language"], outside["line"]) == ("python", line_of("behind", program))

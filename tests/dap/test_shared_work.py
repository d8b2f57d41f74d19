"""A thread of OpenMP's in an editor: behind its frames are those of the thread for which it works."""

import pytest
from debugging import Debugging

from kit import builds
from kit.marks import line_of
from kit.paths import PROGRAMS

pytestmark = pytest.mark.rotated_tests(turns=3)

SOURCE, SCRIPT = PROGRAMS / "parallel.cpp", PROGRAMS / "parallel_loop.py"


def test_its_frames_have_variables_and_values_in_both_languages(dap, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(builds.crossing("parallel", SOURCE, "-fopenmp")))
    part = {"name": "parallel::part", "condition": "number == 5"}
    program = Debugging(dap.stdio(), SCRIPT.name).launch(functions=[part])
    stood = program.stood()
    stack = program.stack(stood.thread)
    label = f"[works for thread {program.client.event('process')['systemProcessId']} (MainThread)]"
    at = next(index for index, frame in enumerate(stack) if frame["name"] == label)
    assert stack[at]["presentationHint"] == "label"
    assert [frame["name"] for frame in stack[:2]] == ["parallel::part", "parallel::total"]
    native, python = (frame for frame in stack[at + 1 :] if frame.get("presentationHint") != "label")
    assert (native["name"], python["name"]) == ("parallel::total", "<module>")
    assert python["line"] == line_of("call", SCRIPT)
    assert program.variables(native["id"])["count"]["value"] == "8"
    assert program.variables(python["id"])["numbers"]["value"].startswith("[0, 1")
    assert program.evaluate("numbers[5] + 1", python["id"]) == "6"
    assert program.evaluate("py:sum(numbers)", stood.frame) == "28"
    program.leave()


def test_a_frame_of_one_that_went_on_is_found_again(dap, monkeypatch):
    """The thread has left frames further in meanwhile: the frame's level is another one."""
    monkeypatch.setenv("PYTHONPATH", str(builds.crossing("parallel", SOURCE, "-fopenmp")))
    part = {"name": "parallel::part", "condition": "number == 1"}
    program = Debugging(dap.stdio(), SCRIPT.name).launch(functions=[part], args=["meet"])
    stood = program.stood()
    stack = program.stack(stood.thread)
    meet, shares = ([frame for frame in stack if frame["name"] == name][-1] for name in ("parallel::meet", "shares"))
    assert program.variables(meet["id"])["count"]["value"] == "2"
    assert program.evaluate("released = 1", stood.frame) == "1"
    assert program.variables(meet["id"])["count"]["value"] == "2"
    assert program.evaluate("count + 1", meet["id"]) == "3"
    assert program.evaluate("what", shares["id"]) == "'meet'"
    program.leave()

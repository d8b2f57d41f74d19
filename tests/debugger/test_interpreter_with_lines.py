"""An interpreter whose own file has debug information, as a debug build or one that was built by hand: it is passed."""

import json

import pytest

from kit import needs
from kit.builds import own_interpreter
from kit.command import Command
from kit.marks import line_of, place
from kit.paths import PROGRAMS, search_path

SCRIPT = PROGRAMS / "calls_through_interpreter.py"


@pytest.fixture
def interpreter():
    return needs.a_libpython(own_interpreter())


def stops(interpreter, crossing, tmp_path, *words):
    environment = {"PYTHONPATH": search_path(crossing), "PYHARNESS_HOME": str(tmp_path / "state")}
    command = Command(environment, tmp_path)
    done = command("step", str(SCRIPT), "--python", str(interpreter), *words, "--json")
    assert done.returncode == 0, done.stderr
    return [(stop["function"], stop["line"]) for stop in json.loads(done.stdout)["stops"]]


def test_out_ends_on_the_next_line_of_python(interpreter, crossing, tmp_path):
    found = stops(interpreter, crossing, tmp_path, "--at", "native:crossing::released", "--out", "--over")
    assert [function for function, _ in found] == ["crossing::released", "<module>", "<module>"]
    assert found[1][1] == line_of("after", SCRIPT)


def test_into_passes_what_is_the_interpreters(interpreter, crossing, tmp_path):
    found = stops(interpreter, crossing, tmp_path, "--at", place("call", SCRIPT), "--into-native", "--out")
    assert [function for function, _ in found] == ["<module>", "crossing::released", "<module>"]

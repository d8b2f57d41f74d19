"""Python's collector in a debugged program: it is on, and has collected what it has in a bare one."""

import json
import subprocess
import sys

import pytest

PROGRAM = """
import gc, json
print(json.dumps([gc.isenabled(), [each["collections"] for each in gc.get_stats()], len(gc.get_objects())]))
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


@pytest.mark.parametrize("verb", [["run"], ["step", "--at", "py:program.py:3"]], ids=["run", "step"])
def test_our_start_brings_no_collection_of_the_programs_forward(pyharness, program, verb):
    bare = json.loads(subprocess.run([sys.executable, program], capture_output=True, check=True).stdout)
    done = pyharness(verb[0], program, *verb[1:], cwd=program.parent)
    (said,) = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    assert said[0]
    assert bare[0]
    assert said[1][1:] == bare[1][1:]
    assert said[1][0] <= bare[1][0] + 20, "our start makes 60 times as many"
    assert said[2] < 2 * bare[2], "the program's collections look at our objects"


def test_a_collector_that_was_switched_off_before_stays_off(pyharness, tmp_path, program):
    (tmp_path / "sitecustomize.py").write_text("import gc; gc.disable()")
    environment = {**pyharness.environment, "PYTHONPATH": str(tmp_path)}
    done = pyharness("run", program, cwd=tmp_path, env=environment)
    assert "[false" in done.stdout

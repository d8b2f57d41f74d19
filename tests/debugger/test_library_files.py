"""A place in a library's Python file stops, and steps go on there; without one they stay out of it."""

import json
from pathlib import Path

import pytest

import pyharness

DECODER = Path(json.decoder.__file__)
PROGRAM = """\
import json
def read():
    return json.loads("[1]")
read()
read()
"""


def decode_line():
    lines = DECODER.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if "obj, end = self.raw_decode" in line)


@pytest.fixture
def script(tmp_path):
    file = tmp_path / "reads.py"
    file.write_text(PROGRAM)
    return file


def places(*stops):
    return [(Path(stop.frame.file).name, stop.frame.line) for stop in stops]


def test_a_line_of_the_standard_library(script):
    line = decode_line()
    with pyharness.debug(str(script)) as program:
        first = program.run_to(f"py:{DECODER}:{line}")
        assert places(first, program.over(), program.out()) == [
            ("decoder.py", line),
            ("decoder.py", line + 1),
            ("reads.py", 3),
        ]
        assert program.finish() == 0


def test_a_step_into_stays_out_of_it(script):
    with pyharness.debug(str(script)) as program:
        program.run_to(f"py:{script}:3")
        assert places(program.into(), program.into()) == [("reads.py", 4), ("reads.py", 5)]


def test_a_place_that_comes_while_the_program_runs(script):
    """The rules of functions that ran before are decided anew."""
    with pyharness.debug(str(script)) as program:
        program.run_to(f"py:{script}:5")
        assert places(program.run_to(f"py:{DECODER}:{decode_line()}")) == [("decoder.py", decode_line())]
        assert program.finish() == 0

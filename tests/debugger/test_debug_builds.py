"""Debug builds of Python 3.9 to 3.11, which assert what others let pass."""

from pathlib import Path

import pytest

from kit import needs
from kit.marks import place
from kit.paths import PROGRAMS
from pyharness import attach, debug

FOUND = [str(path) for path in sorted(Path("/usr/bin").glob("python3.*d")) if path.name[8:-1] in {"9", "10", "11"}]
NONE = pytest.param("", marks=needs.never("no debug build of Python 3.9 to 3.11 is here: apt-get install python3-dbg"))
LINES = PROGRAMS / "plain_lines.py"


@pytest.mark.parametrize("python", FOUND or [NONE])
def test_a_program_is_stepped_through(python):
    with debug(LINES, python=python) as program:
        program.run_to(place("inner", LINES))
        assert program.over().reason == "step"
        assert program.finish() == 3


@pytest.mark.parametrize("python", FOUND or [NONE])
def test_one_that_runs_is_come_to(running, python):
    walker = running("attach_loop.py", "threads", python=python)
    with attach(walker.pid) as program:
        assert program.run_to(walker.at("work")).frame.function == "work"
        assert program.over().frame.function == "work"
    walker.ends_free()

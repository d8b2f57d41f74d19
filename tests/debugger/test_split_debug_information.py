"""A library whose debug information lies in files beside it (``-gsplit-dwarf``), which may be gone."""

import subprocess

import pytest

import pyharness
from pyharness.model.errors import HarnessError

SOURCE = """int doubled(int value) {
  int result = value * 2;
  return result;
}
"""
SCRIPT = """import ctypes
library = ctypes.CDLL({library!r})
number = library.doubled(3)
print(number)
"""


@pytest.fixture
def split(tmp_path):
    """A script, and the file that has the debug information of its library."""
    source, library, script = tmp_path / "doubled.c", tmp_path / "libdoubled.so", tmp_path / "script.py"
    source.write_text(SOURCE)
    subprocess.run(["cc", "-g", "-gsplit-dwarf", "-fPIC", "-c", "doubled.c"], cwd=tmp_path, check=True)
    subprocess.run(["cc", "-shared", "-o", library, "doubled.o"], cwd=tmp_path, check=True)
    script.write_text(SCRIPT.format(library=str(library)))
    return script, tmp_path / "doubled.dwo"


def test_it_is_stepped_into(split):
    with pyharness.debug(str(split[0])) as program:
        program.run_to(f"py:{split[0]}:3")
        frame = program.into().frame
        assert (frame.language, frame.function, frame.line) == ("native", "doubled", 2)
        assert program.finish() == 0


def test_without_it_the_library_is_passed(split):
    split[1].unlink()
    with pyharness.debug(str(split[0])) as program:
        program.run_to(f"py:{split[0]}:3")
        assert program.into().frame.line == 4
        assert program.finish() == 0


def test_a_place_in_it_says_why(split):
    split[1].unlink()
    with (
        pyharness.debug(str(split[0])) as program,
        pytest.raises(HarnessError) as raised,
    ):
        program.run_to("native:doubled.c:2")
    assert "libdoubled.so: the .dwo files of -gsplit-dwarf are not where they were written." in raised.value.remedy

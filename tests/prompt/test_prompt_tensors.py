"""Tensors at the prompt: elements that are watched, and memory that is not there any more."""

import re

import pytest

from kit import builds
from kit.dialogue import blocks
from kit.marks import line_of

pytestmark = pytest.mark.rotated_tests(turns=2)

PROGRAM = """
import os, sys, torch
t = torch.from_file(sys.argv[1], shared=True, size=10000)
t.fill_(2)
os.truncate(sys.argv[1], 0)
print("runs on")
"""


def test_a_mapped_file_that_has_become_shorter(piped, tmp_path):
    program, data = tmp_path / "mapped.py", tmp_path / "data"
    program.write_text(PROGRAM)
    data.write_bytes(bytes(40000))
    commands = ["b 5", "b 6", "c", "tensor t --stats", "c", "nan", "tensor t --stats", "c"]
    done = piped(commands, str(data), program=program)
    assert done.returncode == 0, done.stderr
    shown = blocks(done.stdout, repeated=True)
    before, after = (text for name, text in shown if name == "tensor t --stats")
    assert "mean" in before
    assert "its memory is not there: 40000 bytes" in after
    assert "runs on" in done.stdout


WATCHED = """
import torch
x = torch.zeros(10)
def changes():
    x[0] = 5
    x[7] = 6
    x[0] = 9
    x[7] = 6.5
    x.fill_(3)
changes()
"""


def test_each_change_of_what_is_watched_is_told_once(piped, tmp_path):
    """One instruction comes to the same place for each of the first, and changes several of the last."""
    program = tmp_path / "watched.py"
    program.write_text(WATCHED)
    watched = ["b 10", "c", "watch x[0]", "watch x[7]", "watch x[1]"]
    done = piped([*watched, "c", "c", "c", "c", "c", "c"], program=program)
    told = re.findall(r"x\[(\d)\] \(float32\) at 0x\w+: (\S+) → (\S+) by changes \(\S+:(\d+)\)", done.stdout)
    assert told[:4] == [
        ("0", "0.0", "5.0", "5"),
        ("7", "0.0", "6.0", "6"),
        ("0", "5.0", "9.0", "7"),
        ("7", "6.0", "6.5", "8"),
    ]
    assert sorted(told[4:]) == [("0", "9.0", "3.0", "9"), ("1", "0.0", "3.0", "9"), ("7", "6.5", "3.0", "9")]


def test_an_element_of_eigen_is_set_watched_and_counted_among_nan(piped, tmp_path):
    script = tmp_path / "looks.py"
    script.write_text(f"import ctypes\nctypes.CDLL({str(builds.eigen_arrays())!r}).look()\n")
    place = f"native:{builds.EIGEN_ARRAYS.name}:{line_of('look', builds.EIGEN_ARRAYS)}"
    commands = ["set matrix(0, 1) = nan", "nan", "watch matrix(1, 2)", "quit"]
    done = piped([f"break {place}", "c", *commands], program=script)
    assert "matrix(0, 1) = nan" in done.stdout, done.stderr
    assert "matrix has 1 NaN" in done.stdout
    assert re.search(r"watch \d+  matrix\[1, 2\] \(float32\) at 0x\w+ = 6\.0", done.stdout)

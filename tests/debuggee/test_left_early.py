"""A debugger that leaves a running program while debugpy still starts in there: the program ends as it would."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("left_early.py")


@pytest.mark.rotated
@pytest.mark.parametrize("when", ["before it connects", "it waits", "its threads start", "it hung up"])
def test_the_program_ends(when):
    done = subprocess.run([sys.executable, str(PROGRAM), when], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "ends\n"), done.stderr

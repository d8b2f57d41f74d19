"""Debug information that names a pipe as its source: nobody may open it, for its reader would wait for ever."""

import os
import subprocess

import pytest

import pyharness

SOURCE = """# 7 "PIPE"
int piped(int value) {
  int more = value + 1;
  return more;
}
"""


@pytest.fixture
def stopped(tmp_path):
    """A program that calls ``piped``, whose source is a pipe that nobody writes to."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "piped.c").write_text(SOURCE.replace("PIPE", str(tmp_path / "pipe")))
    subprocess.run(["cc", "-g", "-fPIC", "-shared", "-o", "piped.so", "piped.c"], check=True, cwd=tmp_path)
    (tmp_path / "calls.py").write_text(f"import ctypes\nctypes.CDLL('{tmp_path}/piped.so').piped(3)\n'after it'\n")
    with pyharness.debug(str(tmp_path / "calls.py")) as program:
        yield program


@pytest.mark.parametrize("place", ["native:piped", "native:PIPE:8"])
def test_a_stop_and_steps_in_it(stopped, tmp_path, place):
    stop = stopped.run_to(place.replace("PIPE", str(tmp_path / "pipe")))
    assert stopped.evaluate("native:value") == "3"
    lines = [stop.frame.line, stopped.over().frame.line, stopped.over().frame.line, stopped.over().frame.line]
    assert lines == [8, 9, 10, 3]
    assert stopped.finish() == 0

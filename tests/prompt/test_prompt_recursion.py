"""The stack of a recursion: all of it, however deep, and folded where it repeats."""

import re
import subprocess

import pytest

pytestmark = pytest.mark.rotated_tests(turns=2)

PROGRAM = """
import ctypes
import sys

leaf = ctypes.CDLL(sys.argv[1])


def recurse(n):
    if n == 0:
        return leaf.down(-3)
    return recurse(n - 1)


def outermost(tag):
    return recurse(700)


outermost("who") if sys.argv[2] == "deep" else leaf.down(0)
"""
SOURCE = """
int down(int n)
{
  volatile char pad[64];
  pad[0] = n;
  if (n == -1)
    return pad[0];
  return down(n + 1) + pad[0];
}
"""


@pytest.fixture
def recursion(tmp_path):
    (tmp_path / "leaf.c").write_text(SOURCE)
    library = tmp_path / "libleaf.so"
    subprocess.run(["cc", "-g", "-O0", "-shared", "-fPIC", "-o", library, tmp_path / "leaf.c"], check=True)
    (tmp_path / "recursion.py").write_text(PROGRAM)
    return tmp_path / "recursion.py", library


def test_a_deep_one_is_whole_at_a_native_stop(piped, recursion):
    program, library = recursion
    options = ["--at", "native:leaf.c:6"]
    done = piped(["bt", "up 9000", "down", "p tag", "up 9", "up"], library, "deep", options=options, program=program)
    (last,) = re.findall(r"^ *(\d+)  python  <module>", done.stdout, re.MULTILINE)
    assert int(last) >= 700
    assert re.search(r"… the frame above repeats 69\d times", done.stdout)
    assert f"#{last}  python · <module>" in done.stdout
    assert "This is the outermost frame of your code." in done.stderr
    assert "outermost · recursion.py:15" in done.stdout
    assert "'who'" in done.stdout


def test_one_that_has_run_away_says_what_is_left_out_and_who_began_it(piped, recursion):
    program, library = recursion
    done = piped(["bt"], library, "away", options=["--post-mortem"], program=program)
    assert "just beyond this thread's stack: it has overflowed" in done.stdout
    assert "The stack has more native frames: those behind the innermost 1000 are not shown." in done.stderr
    assert re.search(r"^ *\d+  python  <module>", done.stdout, re.MULTILINE)
    assert len(done.stdout.splitlines()) < 30


def test_the_frame_that_is_looked_at_is_shown(piped, recursion):
    program, library = recursion
    options = ["--at", "native:leaf.c:6"]
    done = piped(["up 300", "bt", "quit"], library, "deep", options=options, program=program)
    assert re.search(r"^→ *\d{3,4}  python  recurse ", done.stdout, re.MULTILINE)
    assert len(re.findall("the frame above repeats", done.stdout)) == 2

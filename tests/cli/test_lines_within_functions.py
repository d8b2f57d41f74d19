"""Lines of a file that is included within a function, or that ``#line`` names there, are places as any others."""

import subprocess

import pytest

SOURCE = """extern "C" int given(int n) {
  int b = n;
#include "body.inc"
#line 500 "grammar.y"
  b *= 2;
  return b;
}
"""


@pytest.mark.parametrize(
    ("where", "stops"),
    [
        ("native:body.inc:2 if b == 6", ["given · body.inc:2", "given · grammar.y:500"]),
        ("native:grammar.y:501", ["given · grammar.y:501", "given · grammar.y:502"]),
    ],
)
def test_a_line_within_a_function_is_a_place(pyharness, tmp_path, where, stops):
    (tmp_path / "body.inc").write_text("  b += 3;\n  b -= 1;\n")
    (tmp_path / "within.cpp").write_text(SOURCE)
    subprocess.run(["g++", "-g", "-fPIC", "-shared", "-o", "within.so", "within.cpp"], cwd=tmp_path, check=True)
    (tmp_path / "calls.py").write_text('import ctypes\nprint(ctypes.CDLL("./within.so").given(3))\n')
    done = pyharness("step", "calls.py", "--at", where, "--over")
    told = [line.split(" · ", 2)[2] for line in done.stdout.splitlines() if line[:1].isdigit() and " · " in line]
    assert told == stops, done.stdout + done.stderr
    assert (done.returncode, done.stderr) == (0, "")

"""C++ that a subinterpreter calls: stepped natively, as nothing of Python's half is in there."""

import subprocess

import pytest

import pyharness
from pyharness.model.errors import HarnessError

CODE = """static int inner(int x) {
  int y = x * 2;
  return y + 1;
}
extern "C" int outer(int x) {
  int a = inner(x);
  return a + 1;
}
"""
# An isolated one of 3.12 does not load ctypes.
PROGRAM = """import ctypes, sys
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
ctypes.PyDLL({library!r})
own = interpreters.create(isolated=False) if sys.version_info[:2] == (3, 12) else interpreters.create()
interpreters.run_string(own, "import ctypes; print(ctypes.PyDLL({library!r}).outer(3), flush=True)")
print("end")
"""


@pytest.fixture
def stopped(tmp_path):
    (tmp_path / "called.cpp").write_text(CODE)
    library = tmp_path / "called.so"
    subprocess.run(["g++", "-g", "-O0", "-fPIC", "-shared", "-o", library, tmp_path / "called.cpp"], check=True)
    (tmp_path / "calls.py").write_text(PROGRAM.format(library=str(library)))
    with pyharness.debug(tmp_path / "calls.py") as program:
        program.run_to("native:inner")
        yield program


def test_it_is_stepped(stopped):
    assert stopped.over().frame.line == 3
    assert (stopped.out().frame.function, stopped.stop.frame.line) == ("outer", 6)
    assert stopped.over().frame.line == 7
    assert stopped.finish() == 0


def test_python_is_refused_at_once(stopped):
    with pytest.raises(HarnessError, match="This thread runs a subinterpreter"):
        stopped.evaluate("py:1 + 1")
    assert stopped.out().frame.function == "outer"
    with pytest.raises(HarnessError, match="This thread runs a subinterpreter"):
        stopped.out()
    assert stopped.finish() == 0


RUNS = """import sys, threading
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
other = interpreters.create()
over = threading.Event()
def turn(number):
    interpreters.run_string(other, "def f():\\n return 1\\nf()")
    return number + 1  # @after
def turns():
    number = 0
    while not over.wait(.01):
        number = turn(number)
print("begin", flush=True)
thread = threading.Thread(target=turns)
thread.start()
sys.stdin.read()
over.set()
thread.join()
interpreters.destroy(other)
"""


def test_a_program_that_has_one_is_attached_to_and_runs_on(running, tmp_path):
    script = tmp_path / "turns.py"
    script.write_text(RUNS)
    program = running(str(script))
    with pyharness.attach(program.pid) as attached:
        first = int(attached.run_to(program.at("after")) and attached.evaluate("number"))
        assert attached.run_to(program.at("after")).frame.function == "turn"
        assert int(attached.evaluate("number")) == first + 1
    assert program.end() == (0, "begin\n", "")

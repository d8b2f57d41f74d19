"""A data breakpoint on a local variable of C++: it ends with the frame, and says so, once."""

import subprocess

import pytest

import pyharness
from pyharness.debugger.native.watch import NativeWatch

SOURCE = """int inner(int value) {
  int twice = value * 2;
  twice += 1;
  return twice;
}
void others(int value) {
  volatile int all[64];
  for (int i = 0; i < 64; i++)
    all[i] = value + i;
}
"""
SCRIPT = """import ctypes
lib = ctypes.CDLL("./watched.so")
lib.inner(2)
for i in range(5):
    lib.others(i)
"""


@pytest.fixture
def script(tmp_path, monkeypatch):
    """A script, and in its folder the library that it loads."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "watched.c").write_text(SOURCE)
    subprocess.run(["cc", "-g", "-O0", "-fPIC", "-shared", "-o", "watched.so", "watched.c"], check=True)
    (tmp_path / "loads.py").write_text(SCRIPT)
    return str(tmp_path / "loads.py")


def test_it_ends_with_its_frame(script):
    with pyharness.debug(script) as program:
        stop = program.run_to("native:watched.c:3")
        watch = NativeWatch(program._shell.attach())
        watch.watch(stop.thread, "twice")
        stop = program.resume()
        assert (stop.reason, stop.frame.line) == ("data breakpoint", 4)
        assert watch.hits(stop.thread)[0].error == ""
        stop = program.resume()
        assert "(its frame, inner, has returned: the data breakpoint is over)" in watch.hits(stop.thread)[0].text
        assert watch.over(stop.thread) == tuple(watch.targets)
        assert program.resume() is None

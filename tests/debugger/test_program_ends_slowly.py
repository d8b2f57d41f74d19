"""A program that takes long to end after debugpy has left it: its exit code is told, and nothing is called lost."""

import pytest

import pyharness
from pyharness.model.errors import HarnessError

pytestmark = pytest.mark.rotated_tests(turns=2)

SLEEPS = "(lambda c: c.on_exit(c.sleep, None))(__import__('ctypes').CDLL(None))"


def test_the_exit_code_comes_when_the_process_has_ended(debugged):
    slow = debugged("ends_slowly.py")
    with slow.start() as program:
        program.run_to(slow.at("stop"))
        assert program.finish() == 3


def test_one_that_was_attached_to(running):
    slow = running("attach_loop.py", "calls", handle="slow")
    with pyharness.attach("slow") as program:
        program.run_to(slow.at("work"))
        program.evaluate(SLEEPS)
        slow.hang_up()
        assert program.finish() == 7


def test_a_program_that_says_that_it_ends_may_take_its_time(tmp_path, monkeypatch):
    """Longer than one that says nothing: torch's teardown on a busy machine, threads that C++ joins."""
    monkeypatch.setattr("pyharness.debugger.live.debugpy_events._LEAVING_SECONDS", 0.2)
    script = tmp_path / "one.py"
    script.write_text("import ctypes, sys\nlibc = ctypes.CDLL(None)\nlibc.on_exit(libc.sleep, None)\nsys.exit(1)\n")
    with pyharness.debug(str(script)) as program:
        with pytest.raises(HarnessError, match="ended without reaching"):
            program.run_to(f"py:{script}:4 if False")
        assert program.finish() == 1


CHURNS = """import sys, threading, time
def churn():
    while True:
        thread = threading.Thread(target=sum, args=(range(100),))
        thread.start()
        thread.join()
threading.Thread(target=churn, daemon=True).start()
time.sleep(0.5)
sys.exit(4)
"""


def test_one_whose_daemon_starts_threads_without_end_ends(tmp_path):
    """pydevd tells of each such thread, and would wait until it has nothing to tell."""
    script = tmp_path / "churns.py"
    script.write_text(CHURNS)
    with pyharness.debug(script) as program:
        program.run_to(f"py:{script}:9")
        assert program.over() is None
        assert program.exit_code == 4

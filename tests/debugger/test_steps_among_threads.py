"""Steps and *continue* of one thread among many: debugpy wakes some other thread, and the right one looks up late."""

import time

import pytest

import pyharness
from kit.interpreters import interpreters
from kit.marks import place
from kit.paths import PROGRAMS

PROGRAM = PROGRAMS / "among_threads.py"
LATE_CONTINUE = """from _pydevd_bundle import pydevd_thread_lifecycle
from pyharness.debuggee.pydevd.steps import stepping

stepping.arm_next_line(None); pydevd_thread_lifecycle.resume_threads("*")
after = 1
"""
"""What the agent does on a thread in native code, and then debugpy's reader."""
LATE = 0.2
"""Seconds after which a thread of debugpy's looks whether it may go on: not one step in ten is faster than that."""


def shortest(act):
    taken = []
    for _ in range(10):
        started = time.monotonic()
        act()
        taken.append(time.monotonic() - started)
    return min(taken)


@pytest.mark.parametrize("python", interpreters().values(), ids=interpreters())
def test_a_thread_goes_on_at_once(python):
    with pyharness.debug(str(PROGRAM), python=python) as program:
        program.run_to(place("turn", PROGRAM))
        assert shortest(program.over) < LATE
        program.set_breakpoint(place("turn", PROGRAM))
        assert shortest(program.resume) < LATE


def test_a_way_out_that_is_armed_outlives_a_continue_that_debugpy_reads_late(tmp_path):
    """That was for the stop before; debugpy has every thread go on, also one that ran all the while."""
    script = tmp_path / "late.py"
    script.write_text(LATE_CONTINUE)
    with pyharness.debug(str(script)) as program:
        stop = program.resume()
        assert stop is not None
        assert (stop.reason, stop.frame.line) == ("step", 5)

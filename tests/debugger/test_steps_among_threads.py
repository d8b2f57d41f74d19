"""Steps and *continue* of one thread among many: debugpy wakes some other thread, and the right one looks up late."""

import time

import pytest

import pyharness
from kit.interpreters import interpreters
from kit.marks import place
from kit.paths import PROGRAMS

PROGRAM = PROGRAMS / "among_threads.py"
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

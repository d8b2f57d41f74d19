"""What happens in the program while gdb calls a function of it: another thread stops, or a signal comes."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from kit.debugged_program import source_line
from pyharness.model.errors import HarnessError

pytestmark = pytest.mark.rotated_tests(turns=5)


IN_THE_CALL, AFTERWARDS = 0.4, 0.8
"""Seconds until the other thread is told to stop, and until the GIL is free: the call waits for it all that time."""


class Meanwhile:
    """The program, and the pipes by which its threads are told to go on."""

    def __init__(self, program, folder):
        self.program = program
        self._pipes = {}
        for name in ("begin", "mark", "keep"):
            path = folder / name
            os.mkfifo(path)
            self._pipes[name] = os.open(path, os.O_RDWR)
        self._timers = []

    def start(self):
        return self.program.start(*(f"/proc/{os.getpid()}/fd/{pipe}" for pipe in self._pipes.values()))

    def keep_gil(self):
        """From a moment before the call, which waits for it."""
        self.tell("begin", 0)
        self.tell("keep", AFTERWARDS)

    def tell(self, name, seconds):
        self.later(seconds, os.write, self._pipes[name], b"!")

    def later(self, seconds, act, *arguments):
        self._timers.append(threading.Timer(seconds, act, arguments))
        self._timers[-1].start()

    def close(self):
        for timer in self._timers:
            timer.join()
        for pipe in self._pipes.values():
            os.close(pipe)


@pytest.fixture
def meanwhile(debugged, tmp_path):
    made = Meanwhile(debugged("fault_meanwhile.py"), tmp_path)
    yield made
    made.close()


@pytest.fixture
def standing(meanwhile):
    """The program with a thread in native code; another is on its way to a breakpoint, or will be when it is told."""
    with meanwhile.start() as program:
        meanwhile.stood = program.run_to("native:scaled")
        program.set_breakpoint("native:tick")
        yield program


def ends_as_alone(meanwhile, caught=0):
    return meanwhile.program.output == f"results [10] caught {caught}\n"


def test_another_thread_stops_during_a_step(meanwhile, standing):
    meanwhile.keep_gil()
    meanwhile.tell("mark", IN_THE_CALL)
    told = [standing.over(), standing.resume()]
    assert {(stop.thread == meanwhile.stood.thread, stop.frame.function) for stop in told} == {
        (True, "crossing::scaled"),
        (False, "crossing::tick"),
    }
    assert standing.finish() == 7
    assert ends_as_alone(meanwhile)


def test_another_thread_stops_while_python_is_asked(meanwhile, standing):
    meanwhile.keep_gil()
    meanwhile.tell("mark", IN_THE_CALL)
    assert standing.evaluate("py:6 * 7") == "42"
    assert standing.evaluate("value") == "3"
    assert standing.resume().frame.function == "crossing::tick"
    assert standing.finish() == 7
    assert ends_as_alone(meanwhile)


def test_another_thread_stops_during_a_cpp_expression(meanwhile, standing):
    meanwhile.tell("mark", IN_THE_CALL)
    with pytest.raises(HarnessError, match="Another thread stopped during the call"):
        standing.evaluate("((int (*)(unsigned)) usleep)(800000)")
    assert standing.evaluate("value") == "3"
    assert standing.evaluate("((int (*)(unsigned)) usleep)(10)") == "0"
    told = [standing.over(), standing.resume()]
    assert {stop.frame.function for stop in told} == {"crossing::scaled", "crossing::tick"}
    meanwhile.keep_gil()
    assert standing.finish() == 7
    assert ends_as_alone(meanwhile)


def test_a_thread_that_holds_the_gil_stops_during_a_step(meanwhile, standing):
    standing.set_breakpoint(f"native:extension.cpp:{source_line('waited_holding')}")
    meanwhile.keep_gil()
    with pytest.raises(HarnessError, match="another stopped thread holds the GIL"):
        standing.over()
    assert standing.resume().frame.function == "crossing::wait_holding"
    meanwhile.tell("mark", 0)
    assert standing.resume().frame.function == "crossing::tick"
    assert standing.finish() == 7
    assert ends_as_alone(meanwhile)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGUSR1])
def test_a_signal_of_the_programs_own_during_a_step(meanwhile, standing, number):
    meanwhile.keep_gil()
    meanwhile.later(IN_THE_CALL, os.kill, standing.pid, number)
    stop = standing.over()
    assert (stop.thread, stop.reason) == (meanwhile.stood.thread, "step")
    meanwhile.tell("mark", 0)
    assert standing.resume().frame.function == "crossing::tick"
    assert standing.finish() == 7
    assert ends_as_alone(meanwhile, caught=1)

"""Several threads of the controller that use one program: one at a time, and a call that is cut short says by what."""

import threading

import pytest

import pyharness
from pyharness.model.errors import HarnessError

pytestmark = pytest.mark.rotated_tests(turns=3)


PATIENCE = 60
RUNS = "another thread waits for its next stop"


class Caller(threading.Thread):
    """A call on a thread of its own; what came of it."""

    def __init__(self, use, *words):
        super().__init__(daemon=True)
        self._use = lambda: use(*words)
        self.result = self.error = None
        self.start()

    def run(self):
        try:
            self.result = self._use()
        except HarnessError as error:
            self.error = error

    def returned(self):
        self.join(PATIENCE)
        assert not self.is_alive()
        return self


def waiting(program, place):
    """A thread that waits for a stop which never comes, once the program runs."""
    caller = Caller(program.run_to, place)
    while not runs(program):
        pass
    return caller


def runs(program):
    try:
        program.stack()
    except HarnessError as error:
        return RUNS in error.message
    return False


@pytest.mark.parametrize("place", ["native:held", "py"])
def test_eight_threads_at_one_stop(debugged, place):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        program.run_to(crossing.at("held") if place == "py" else place)
        uses = [lambda: program.evaluate("py:1+1"), program.stack, program.into, program.over, program.out] * 2
        for caller in [Caller(use) for use in uses]:
            error = caller.returned().error
            assert error is None or RUNS in error.message, error
        assert program.finish() == 7


@pytest.mark.parametrize(
    ("use", "said"), [("detach", "let go during"), ("close", "let go during"), ("kill", "ended during")]
)
def test_a_thread_that_waits_for_a_stop_is_told_why_none_comes(running, use, said):
    walker = running("attach_loop.py", "calls")
    program = pyharness.attach(walker.pid)
    program.run_to(walker.at("work"))
    caller = waiting(program, walker.at("nothing"))
    getattr(program, use)()
    error = caller.returned().error
    assert f"The program was {said} this call" in error.message, error
    program.close()
    if use == "kill":
        assert walker.end()[0] == -15
    else:
        walker.ends_free()


def test_closing_a_program_that_was_started_ends_it_under_a_thread_that_waits(debugged):
    forever = debugged("plain_forever.py")
    program = forever.start()
    program.run_to(forever.at("work"))
    caller = waiting(program, forever.at("work") + " if count < 0")
    program.close()
    assert "The program was ended during this call" in caller.returned().error.message
    assert program.exit_code == -15


def test_ending_it_under_a_thread_that_evaluates(debugged):
    crossing = debugged("core_crossing.py")
    program = crossing.start()
    program.run_to("native:held")
    waits = "py:__import__('os').write(1, b'asked') and __import__('threading').Event().wait()"
    caller = Caller(program.evaluate, waits)
    while "asked" not in crossing.output:
        pass
    program.kill()
    assert "The program was ended during this call" in caller.returned().error.message

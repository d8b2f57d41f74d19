"""Signals that come while a condition is evaluated: what their handlers print and raise is the program's."""

import time

import pytest

import pyharness
from kit.interpreters import cases, interpreters


@pytest.mark.parametrize("condition", ["sum(number for number in range(2000)) < 0", "print('of the condition')"])
def test_handlers_meanwhile(debugged, condition):
    meanwhile = debugged("signals_meanwhile.py")
    with meanwhile.start() as program:
        assert program.run_to(meanwhile.at("works", "number == 2")).reason == "breakpoint"
        program.log(meanwhile.at("works", condition), "never")
        assert program.finish() == 7
    assert meanwhile.output.splitlines() == [*(f"tick {number + 1}" for number in range(20)), "caught 10"]


LIMITED = """import signal, time

def too_long(*_):
    print("fired", flush=True)
    raise TimeoutError("too long")

def limited(turn):
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    twice = turn * 2
    signal.setitimer(signal.ITIMER_REAL, 0)
    return twice

signal.signal(signal.SIGALRM, too_long)
for turn in range(3):
    time.sleep(0.1)
    try:
        print(limited(turn))
    except TimeoutError as error:
        print("caught", error)
"""


@pytest.mark.rotated
@pytest.mark.parametrize("version", cases())
def test_a_handler_that_raises_while_the_thread_stands_does_so_when_it_goes_on(version, tmp_path):
    """The exception left the stop: the program ran on, and the next breakpoints were not seen."""
    script, said = tmp_path / "limited.py", tmp_path / "said"
    script.write_text(LIMITED)
    with (
        said.open("w") as output,
        pyharness.debug(str(script), python=interpreters()[version], stdout=output) as program,
    ):
        program.set_breakpoint(f"py:{script}:{LIMITED.splitlines().index('    twice = turn * 2') + 1}")
        for turn in range(2):
            program.resume()
            until = time.monotonic() + 30
            while said.read_text().count("fired") != turn + 1:
                assert time.monotonic() < until, "the alarm's handler does not run"
                time.sleep(0.05)
            assert program.evaluate("turn") == str(turn)
        program.resume()
        assert program.finish() == 0
    assert said.read_text().splitlines() == [*("fired", "caught too long") * 2, "4"]

"""Signals that come while a condition is evaluated: what their handlers print and raise is the program's."""

import pytest


@pytest.mark.parametrize("condition", ["sum(number for number in range(2000)) < 0", "print('of the condition')"])
def test_handlers_meanwhile(debugged, condition):
    meanwhile = debugged("signals_meanwhile.py")
    with meanwhile.start() as program:
        assert program.run_to(meanwhile.at("works", "number == 2")).reason == "breakpoint"
        program.log(meanwhile.at("works", condition), "never")
        assert program.finish() == 7
    assert meanwhile.output.splitlines() == [*(f"tick {number + 1}" for number in range(20)), "caught 10"]

"""A SIGTRAP that somebody sends is the program's own, and no breakpoint of a debugger's."""

import signal

import pytest

pytestmark = pytest.mark.rotated_tests(turns=3)


@pytest.fixture
def traps(debugged):
    return debugged("own_traps.py")


def test_every_one_reaches_the_programs_handler(traps):
    with traps.start() as program:
        program.run_to("native:held")
        assert program.finish() == 7
    assert traps.output == "caught 5\n"


def test_one_that_comes_to_a_python_step(traps):
    with traps.start() as program:
        program.run_to("native:held")
        program.run_to(traps.at("all"))
        assert program.over().frame.line == traps.line("sent")
        assert program.evaluate("len(caught)") == "5"
        assert program.finish() == 7


@pytest.mark.parametrize("step", ["over", "into"])
def test_one_that_comes_to_a_native_step(traps, step):
    with traps.start() as program:
        program.run_to("native:send")
        stops = [getattr(program, step)()]
        while stops[-1].frame.language == "native":
            assert stops[-1].frame.function == "crossing::send"
            stops.append(program.over())
        assert stops[-1].frame.line in {traps.line("send"), traps.line("raise")}
        assert program.finish() == 7
    assert traps.output == "caught 5\n"


def test_out_of_code_that_sends_one(traps):
    with traps.start() as program:
        program.run_to("native:send")
        assert program.out().frame.line in {traps.line("send"), traps.line("raise")}
        assert program.finish() == 7
    assert traps.output == "caught 5\n"


def test_one_that_nothing_handles_ends_the_program(traps):
    with traps.start("unhandled") as program:
        program.run_to("native:held")
        assert program.finish() == -signal.SIGTRAP

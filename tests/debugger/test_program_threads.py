"""Threads: every one that comes to a place is told, a step is one thread's, the others run."""

import pytest

pytestmark = pytest.mark.rotated_tests(turns=5)


def test_four_python_threads_at_one_native_breakpoint(debugged):
    threads = debugged("fault_threads.py")
    with threads.start() as program:
        program.set_breakpoint("native:scaled")
        stops = [program.resume() for _ in range(4)]
        assert len({stop.thread for stop in stops}) == 4
        assert program.finish() == 7
    assert threads.output == "results [1, 4, 7, 10]\nticked\nalone 2\n"


def test_four_native_threads_at_one_breakpoint(debugged):
    threads = debugged("fault_threads.py")
    with threads.start() as program:
        seen = set()
        program.set_breakpoint("native:tick")
        for _ in range(4):
            stop = program.resume()
            assert stop.thread != program.pid
            seen.add(program.evaluate("n"))
            assert [frame.function for frame in program.stack() if not frame.plumbing] == ["crossing::tick"]
        assert seen == {"0", "1", "2", "3"}
        assert program.finish() == 7


def test_threads_that_wait_at_a_place_run_on_when_another_is_asked_for(debugged):
    threads = debugged("fault_threads.py")
    with threads.start() as program:
        program.run_to("native:tick")
        stop = program.run_to(threads.at("alone"))
        assert (stop.frame.language, stop.frame.function) == ("python", "alone")
        assert program.finish() == 7


def test_detach_while_threads_wait_at_a_breakpoint(debugged):
    threads = debugged("fault_threads.py")
    with threads.start() as program:
        program.run_to("native:tick")
        program.detach()
        assert program.finish() == 7
    assert threads.output.endswith("ticked\nalone 2\n")


def test_a_step_is_one_threads_while_another_runs_through_the_same_code(debugged):
    threads = debugged("fault_threads.py")
    with threads.start() as program:
        start = program.run_to(threads.at("alone"))
        stop = program.over()
        assert (stop.thread, stop.frame.line) == (start.thread, threads.line("repeat"))
        stop = program.into()
        assert (stop.thread, stop.frame.function) == (start.thread, "crossing::repeat")
        stop = program.into()
        while stop.frame.function != "crossing::tick":
            assert stop.thread == start.thread
            stop = program.into()
        assert stop.thread == start.thread
        before = int(program.evaluate("py:len(steps)"))
        assert program.out().thread == start.thread
        assert program.out().frame.line == threads.line("alone_return")
        assert int(program.evaluate("len(steps)")) >= before
        assert program.finish() == 7


def test_two_programs_at_once(debugged):
    first, second = debugged("core_crossing.py"), debugged("fault_stands.py")
    with first.start() as one, second.start() as two:
        one.run_to("native:held")
        two.run_to("native:released")
        assert one.evaluate("value") == "1"
        assert two.out().frame.function == "stand"
        assert one.out().frame.function == "main"
        assert two.pid != one.pid
        assert (two.finish(), one.finish()) == (7, 7)

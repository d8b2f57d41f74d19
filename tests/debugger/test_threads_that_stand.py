"""Threads that stop while another one's stop is told: each is looked at, and its own stop is told later."""

from kit import builds
from kit.paths import PROGRAMS
from pyharness.debugger.merged_stack import merged_stack


def test_one_that_is_looked_at_keeps_its_stop(debugged, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(builds.crossing("parallel", PROGRAMS / "parallel.cpp", "-fopenmp")))
    with debugged("parallel_loop.py").start() as program:
        shell, seen, looked_at = program._shell, 0, 0
        program.set_breakpoint("native:parallel::part")
        while program.resume() is not None:
            seen += 1
            for thread in shell.machine.standing - {shell.machine.focus.thread}:
                looked_at += 1
                assert merged_stack(shell, thread)[0].frame.function == "parallel::part"
        assert looked_at
        assert seen == 8

"""Letting go: the program runs on at once, free of both debuggers, and ends as it would have."""

import os
import signal
from pathlib import Path

import pytest

import pyharness

pytestmark = pytest.mark.rotated_tests(turns=5)


def tracer_of(pid):
    """Who traces the process; nobody (0) where it has already run to its end."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return next(int(line.split()[1]) for line in lines if line.startswith("TracerPid:"))


@pytest.mark.parametrize("where", ["native:held", "native:released", "python"])
def test_detach_leaves_the_program_running(debugged, where):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        if where.startswith("native"):
            program.run_to(where)
        else:
            program.run_to(crossing.at("held"))
            program.into()
            program.out()
        program.detach()
        assert tracer_of(program.pid) == 0
        assert program.finish() == 7
    assert crossing.output.startswith("3 7 6 16 [1, 3, 5] on purpose 11")


def test_detach_in_the_middle_of_an_armed_step(debugged):
    """Every function is trapped; a place on the way ends the step, and the traps are gone when it is let go."""
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        program.run_to(crossing.at("nothing"))
        program.into()
        program.into()
        program.detach()
        assert program.finish() == 7
    assert crossing.output.startswith("3 7 6 16 [1, 3, 5]")


def test_detach_before_the_first_line(debugged):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        program.detach()
        program.detach()
        assert program.finish() == 7


def test_a_program_outlives_its_with_block_once_detached(debugged):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        program.run_to("native:held")
        program.detach()
    assert program.finish() == 7


def test_leaving_the_block_ends_a_program_that_was_not_let_go(debugged):
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        program.run_to("native:held")
    assert program.exit_code < 0
    assert crossing.output == ""


def test_detach_when_a_step_has_arrived_that_nobody_was_told_of(debugged):
    """The thread stands behind the byte of a trap, in the middle of an instruction of its own."""
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        program.run_to(crossing.at("held"))
        shell = program._shell
        shell.perform(shell.machine.request("into", shell.breakpoints.enabled))
        for source, item in iter(shell._events.get, None):
            if source == "gdb" and item.kind == "stopped":
                break
        program.detach()
        assert program.finish() == 7
    assert crossing.output.startswith("3 7 6 16 [1, 3, 5] on purpose 11")


def test_ctrl_c_between_the_word_and_the_deed(debugged, monkeypatch):
    """Ctrl-C comes when the program is let go, not before: nobody else would do it any more."""
    crossing = debugged("core_crossing.py")
    with crossing.start() as program:
        program.run_to("native:held")
        leave = program._shell.leave

        def interrupted():
            monkeypatch.undo()
            signal.raise_signal(signal.SIGINT)
            leave()

        monkeypatch.setattr(program._shell, "leave", interrupted)
        with pytest.raises(KeyboardInterrupt):
            program.detach()
        assert tracer_of(program.pid) == 0
        assert program.finish() == 7


def test_close_does_not_wait_for_a_program_that_hangs_with_the_gil(tmp_path):
    """Such a program never hangs up."""
    script = tmp_path / "hangs.py"
    script.write_text("import ctypes\nlibc = ctypes.PyDLL(None)\nlibc.usleep(200_000)\nlibc.sleep(900)\n")
    program = pyharness.debug(str(script))
    program.run_to(f"py:{script}:3")
    program.detach()
    os.kill(program.pid, signal.SIGSTOP)
    program.close()
    os.kill(program.pid, signal.SIGKILL)
    assert program.finish() == -signal.SIGKILL

"""gdb or debugpy's adapter is killed: one clear error, and the user's program lives on to its own end."""

import pytest
from harness_process import PROGRAMS, STANDS, at
from slow_gdb import SlowGdb

LINES = PROGRAMS / "plain_lines.py"
VICTIMS = pytest.mark.parametrize(
    ("victim", "message"),
    [("gdb", "gdb ended unexpectedly."), ("adapter", "The debugpy adapter ended unexpectedly.")],
)


def strike(harness, victim):
    killed = harness.family()[victim]
    killed.kill()
    killed.wait_for_end()


def assert_lived_on(harness, message):
    """One error was shown; the program did all its work, without a debugger."""
    status, errors = harness.end()
    assert status == 1
    assert errors == f"pyharness: {message}\nThe program was let go and runs on without a debugger.\n"
    assert "total64" in "".join(harness.said.split())  # two processes write to one pipe
    assert "the program ended with exit code 7" in harness.said


@VICTIMS
@pytest.mark.parametrize("action", ["--over", "--at=native:held"])
def test_while_the_program_stands_in_python(pyharness, victim, message, action):
    harness = pyharness("step", STANDS, "--at", "native:held", "--out", action, paused=True)
    harness.until_standing().go_on().until_standing()
    strike(harness, victim)
    harness.go_on()
    assert_lived_on(harness, message)


@VICTIMS
@pytest.mark.parametrize("action", ["--out", "--at=native:held"])
def test_while_the_program_stands_in_native_code(pyharness, victim, message, action):
    harness = pyharness("step", STANDS, "--at", "native:held", action, paused=True).until_standing()
    strike(harness, victim)
    harness.go_on()
    assert_lived_on(harness, message)


@VICTIMS
def test_while_the_program_runs_to_a_breakpoint(pyharness, victim, message):
    harness = pyharness("step", STANDS, "--at", "native:released", "--at", "native:held", "--", "between")
    harness.until("between")
    strike(harness, victim)
    harness.answer()
    assert_lived_on(harness, message)


@VICTIMS
def test_during_a_step_into_with_every_function_trapped(pyharness, victim, message):
    harness = pyharness(
        "step", STANDS, "--at", "native:held", "--at", at("inline"), "--into", "--", "inline", paused=True
    )
    harness.until_standing().go_on().until_standing().go_on().until("inline")
    strike(harness, victim)
    harness.answer()
    assert_lived_on(harness, message)


@VICTIMS
def test_while_it_is_asked_something(pyharness, victim, message):
    ask = "print('asked', flush=True), sys.stdin.readline()"
    harness = pyharness("step", STANDS, "--at", "native:held", "--out", "--print", ask, paused=True)
    harness.until_standing().go_on().until("asked")
    strike(harness, victim)
    harness.answer()
    if victim == "gdb":  # not needed for the answer
        harness.until_standing().go_on()
    assert_lived_on(harness, message)


@pytest.mark.parametrize("moment", ["before", "after"])
def test_gdb_is_killed_while_it_attaches(pyharness, tmp_path, moment):
    gdb = SlowGdb(tmp_path, moment)
    harness = pyharness("step", STANDS, "--at", "native:held", **gdb.environment)
    gdb.wait_until_it_attaches()
    strike(harness, "gdb")
    gdb.let_go()
    assert_lived_on(harness, "gdb ended unexpectedly.")


def test_a_gdb_that_was_never_needed_is_not_missed(pyharness):
    harness = pyharness("step", LINES, "--at", at("inner", LINES), "--over", paused=True).until_standing()
    strike(harness, "gdb")
    harness.go_on().until_standing().go_on()
    assert harness.end() == (3, "")

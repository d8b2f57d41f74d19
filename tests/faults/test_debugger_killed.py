"""gdb is killed: one clear error, and the user's program lives on to its own end."""

import pytest
from harness_process import STANDS, at
from processes import wait_for_read

from kit.paths import PROGRAMS
from kit.slow_gdb import SlowGdb

pytestmark = pytest.mark.rotated_tests(turns=6)


LINES = PROGRAMS / "plain_lines.py"
LOST = "pyharness: gdb ended unexpectedly.\n"
EXPRESSIONS = pytest.mark.parametrize(
    "expression", ["py:__import__('os').read(0, 1)", "crossing::wait_holding(0)"], ids=["python", "C++"]
)


def strike(harness):
    killed = harness.family()["gdb"]
    killed.kill()
    killed.wait_for_end()


def assert_lived_on(harness):
    """One error was shown; the program did all its work, without a debugger."""
    fates = {"The program was let go and runs on without a debugger.", "The program ended with exit code 7."}
    assert told(harness) in fates
    assert_worked(harness)


def assert_worked(harness):
    """The program did all its work."""
    assert "total64" in "".join(harness.said.split())  # two processes write to one pipe
    assert "the program ended with exit code 7" in harness.said


def told(harness):
    """What the one error said of the program."""
    status, errors = harness.end()
    assert status != 0
    assert errors.startswith(LOST)
    return errors.removeprefix(LOST).rstrip("\n")


@pytest.mark.rotated
@pytest.mark.parametrize("action", ["--over", "--at=native:held"])
def test_while_the_program_stands_in_python(pyharness, action):
    harness = pyharness("step", STANDS, "--at", "native:held", "--out", action, paused=True)
    harness.until_standing().go_on().until_standing()
    strike(harness)
    harness.go_on()
    assert_lived_on(harness)


@pytest.mark.parametrize("action", ["--out", "--at=native:held"])
def test_while_the_program_stands_in_native_code(pyharness, action):
    harness = pyharness("step", STANDS, "--at", "native:held", action, paused=True).until_standing()
    strike(harness)
    harness.go_on()
    assert_lived_on(harness)


def test_while_the_program_runs_to_a_breakpoint(pyharness):
    harness = pyharness("step", STANDS, "--at", "native:released", "--at", "native:held", "--", "between")
    harness.until("between")
    strike(harness)
    harness.answer()
    assert_lived_on(harness)


def test_during_a_step_into_with_every_function_trapped(pyharness):
    harness = pyharness(
        "step", STANDS, "--at", "native:held", "--at", at("inline"), "--into", "--", "inline", paused=True
    )
    harness.until_standing().go_on().until_standing().go_on().until("inline")
    strike(harness)
    harness.answer()
    assert_lived_on(harness)


def test_while_it_is_asked_something(pyharness):
    ask = "print('asked', flush=True), sys.stdin.readline()"
    harness = pyharness("step", STANDS, "--at", "native:held", "--out", "--print", ask, paused=True)
    harness.until_standing().go_on().until("asked")
    strike(harness)
    harness.answer()
    harness.until_standing().go_on()  # gdb was not needed for the answer
    status, errors = harness.end()
    # Nor is it for what is left: whether gdb's end or the program's is heard of first is chance.
    assert (status, errors) == (7, "") or errors.startswith(LOST)
    assert_worked(harness)


@EXPRESSIONS
def test_while_a_native_stop_is_asked_something(pyharness, expression):
    harness = pyharness("step", STANDS, "--at", "native:held", "--print", expression).until("first")
    wait_for_read(harness.family()["program"])
    strike(harness)
    harness.answer()
    assert_lived_on(harness)


@EXPRESSIONS
def test_after_a_native_stop_was_asked_something(pyharness, expression):
    harness = pyharness("step", STANDS, "--at", "native:held", "--print", expression, "--over", paused=True)
    harness.until("first").answer().until_standing()
    strike(harness)
    harness.go_on()
    assert_lived_on(harness)


@EXPRESSIONS
def test_without_a_guard_it_may_crash_and_that_is_said(pyharness, tmp_path, expression):
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['pyharness._guard'] = None\n")
    path = f"{tmp_path}:{pyharness.environment['PYTHONPATH']}"
    harness = pyharness("step", STANDS, "--at", "native:held", "--print", expression, PYTHONPATH=path).until("first")
    program = harness.family()["program"]
    wait_for_read(program)
    strike(harness)
    fate = harness.until_error("The program was ")
    at_once = expression.startswith("py:") and "ended by SIGSEGV" in fate  # who is let go ends what Python evaluates
    assert at_once or "it will crash" in fate
    harness.answer()
    program.wait_for_end()
    harness.end()
    assert "the program was ended by SIGSEGV" in harness.said


def test_a_program_that_has_crashed_is_told_to_have_ended(pyharness, tmp_path):
    (tmp_path / "crashes.py").write_text("import crossing\ncrossing.crash()\n")
    harness = pyharness("step", tmp_path / "crashes.py", "--at", "native:crash", "--over", paused=True)
    harness.until_standing().go_on().until_standing()
    program = harness.family()["program"]
    strike(harness)
    program.wait_for_end()
    harness.go_on()
    _, errors = harness.end()
    assert "runs on" not in errors
    assert "the program was ended by SIGSEGV" in harness.said


@pytest.mark.parametrize("moment", ["before", "after"])
def test_gdb_is_killed_while_it_attaches(pyharness, tmp_path, moment):
    gdb = SlowGdb(tmp_path, moment)
    harness = pyharness("step", STANDS, "--at", "native:held", **gdb.environment)
    gdb.wait_until_it_attaches()
    strike(harness)
    gdb.let_go()
    assert_lived_on(harness)


def test_a_program_of_python_alone_has_no_gdb(pyharness):
    harness = pyharness("step", LINES, "--at", at("inner", LINES), "--over", paused=True).until_standing()
    assert sorted(harness.family()) == ["harness", "program"]
    harness.go_on().until_standing()
    assert sorted(harness.family()) == ["harness", "program"]
    harness.go_on()
    assert harness.end() == (3, "")

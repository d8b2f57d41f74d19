"""What a client may change at a native stop: values, and where the thread goes on; and what it completes."""

import sys

import pytest
from mi_session import SOURCE, Attached, capable, line_of

from kit import builds
from kit.paths import PROGRAMS
from pyharness.debugger.native.code import NativeCode
from pyharness.debugger.native.edit import NativeEdit
from pyharness.gdbmi.client import GdbError
from pyharness.protocol.mi import Break

pytestmark = pytest.mark.rotated_tests(turns=5)


@pytest.fixture
def program():
    with Attached([capable()]) as attached:
        yield attached


@pytest.fixture
def edit(program):
    return NativeEdit(program.native)


def next_line(program, thread):
    program.native.threads.step(thread, "next")
    assert program.stop()[0] == "stepped"
    return program.native.where(thread).line


def test_a_jump_forward_skips_and_one_back_runs_again(program, edit):
    thread = program.run_to("capable::steps", "s")
    assert next_line(program, thread) == line_of("steps_second")
    assert edit.jump(thread, str(SOURCE), line_of("steps_third"), check=True)
    assert program.native.where(thread).line == line_of("steps_second")
    edit.jump(thread, str(SOURCE), line_of("steps_third"))
    assert program.native.where(thread).line == line_of("steps_third")
    edit.set(thread, "second", "100")
    assert next_line(program, thread) == line_of("steps_return")
    assert program.native.evaluate(thread, "third") == "104"
    edit.jump(thread, str(SOURCE), line_of("steps_first"))
    assert next_line(program, thread) == line_of("steps_second")
    program.native.threads.resume(thread)
    assert program.heard() == "done s"


@pytest.mark.parametrize(
    ("steps", "mark", "message"),
    [
        (0, "scopes_inside_second", "scoped would not be made: line"),
        (3, "scopes_first", "is alive and would never be destroyed"),
        (3, "scopes_after", "is alive and would never be destroyed"),
        (0, "steps_first", "capable::scopes(int) has no code at line"),
    ],
)
def test_a_jump_that_would_break_objects_is_refused(program, edit, steps, mark, message):
    thread = program.run_to("capable::scopes", "o")
    for _ in range(steps):
        next_line(program, thread)
    with pytest.raises(GdbError) as refused:
        edit.jump(thread, str(SOURCE), line_of(mark))
    assert message in refused.value.message
    program.native.threads.resume(thread)
    assert program.heard() == "scopes 114"


def test_a_jump_within_and_around_a_block_of_objects(program, edit):
    thread = program.run_to("capable::scopes", "o")
    edit.jump(thread, str(SOURCE), line_of("scopes_made"))
    for mark in ("scopes_inside", "scopes_inside_second"):
        assert next_line(program, thread) == line_of(mark)
    edit.jump(thread, str(SOURCE), line_of("scopes_inside"))
    program.native.threads.resume(thread)
    assert program.heard().startswith("scopes ")


def test_a_jump_needs_the_beginning_of_a_line(program, edit):
    thread = program.run_to("capable::steps", "s")
    program.native.threads.step(thread, "stepi")
    assert program.stop()[0] == "stepped"
    with pytest.raises(GdbError, match="in the middle of line"):
        edit.jump(thread, str(SOURCE), line_of("steps_third"))


def test_a_step_of_one_instruction_and_a_breakpoint_at_one(program):
    thread = program.run_to("capable::steps", "s")
    pc = program.native.stack(thread)[0].address
    code = NativeCode(program.native).disassemble(pc, 6)
    for command, entry in (("stepi", code[1]), ("nexti", code[2])):
        program.native.threads.step(thread, command)
        assert program.stop()[0] == "stepped"
        assert program.native.stack(thread)[0].address == entry.address
    numbers = program.native.ask(Break(address=code[5].address)).numbers
    program.native.threads.resume(thread)
    assert program.stop(numbers)[0] == "breakpoint"
    assert program.native.stack(thread)[0].address == code[5].address


def test_a_breakpoint_that_ignores_hits(program):
    thread = program.run_to("capable::steps", "s")
    numbers = program.native.ask(Break("capable::count", ignore=2)).numbers
    program.native.threads.resume(thread)
    program.say("ccc")
    assert program.stop(numbers)[0] == "breakpoint"
    assert [program.heard() for _ in range(3)] == ["done s", "done c", "done c"]
    assert program.native.evaluate(thread, "counters[1]") == "24"


def test_an_instruction_breakpoint_where_no_code_is_says_so(program):
    program.run_to("capable::steps", "s")
    with pytest.raises(GdbError, match="no code at 0x10"):
        program.native.ask(Break(address=0x10))


def test_values_are_set(program, edit):
    thread = program.run_to("capable::steps", "s")
    assert edit.set(thread, "n", "41") == "41"
    assert edit.set(thread, "point.y", "2.5") == "2.5"
    assert edit.set(thread, "$rax", "7") == "7"
    assert program.native.evaluate(thread, "$rax") == "7"
    assert edit.set(thread, "counters[0]", "11", level=1) == "11"
    for expression, value in (("nosuch", "1"), ("n", "nosuch"), ("n = 1; n", "1"), ("n", "")):
        with pytest.raises(GdbError):
            edit.set(thread, expression, value)


@pytest.mark.parametrize(
    ("text", "labels", "length"),
    [
        ("fir", {"first"}, 3),
        ("1 + cou", {"count"}, 3),
        ("point.", {"x", "y", "name"}, 0),
        ("(&point)->na", {"name"}, 2),
        ("read_only(n + point.", {"x", "y", "name"}, 0),
        ("counters[0] + (*(&point)).y", {"y"}, 1),
        ("capable::re", {"capable::refuse", "capable::read_only"}, 11),
        ("$rs", {"$rsi", "$rsp"}, 3),
        ("read_only(1).", set(), 0),
        ("nosuch.", set(), 0),
        ("", {"first", "n"}, 0),
    ],
)
def test_completions(program, edit, text, labels, length):
    thread = program.run_to("capable::steps", "s")
    next_line(program, thread)
    found = edit.complete(thread, text)
    shown = {entry.label for entry in found}
    assert labels <= shown if labels else not shown
    assert len(found) <= 100
    assert {entry.length for entry in found} <= {length}


def test_elements_of_tensors_are_set():
    with Attached([sys.executable, str(PROGRAMS / "watched_tensors.py"), str(builds.tensor_kernel())]) as program:
        thread = program.run_to("tensor_kernel::wait", "k")
        edit = NativeEdit(program.native)
        assert edit.set(thread, "argument[3, 2]", "-1.5") == "-1.5"
        assert edit.set(thread, "brain[1, 1]", "2.71828") == "2.71875"
        assert edit.set(thread, "turned[2, 3]", "4") == "4.0"
        with pytest.raises(GdbError, match="is not a value of int64"):
            edit.set(thread, "counts[0]", "1.5")
        with pytest.raises(GdbError, match="more than one element"):
            edit.set(thread, "brain[1]", "1")

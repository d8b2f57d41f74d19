"""Data breakpoints on tensors: elements as their dtype shows them, and the Python line that changed them."""

import sys

import pytest
from mi_session import Attached, line_of

from kit import builds
from kit.paths import PROGRAMS
from pyharness.debugger.native.watch import NativeWatch
from pyharness.gdbmi.client import GdbError

PROGRAM = PROGRAMS / "watched_tensors.py"


@pytest.fixture(scope="module")
def program():
    """It stands in the kernel; every test lets it run and brings it back there no more."""
    with Attached([sys.executable, str(PROGRAM), str(builds.tensor_kernel())]) as attached:
        yield attached


@pytest.fixture
def watch(program):
    """Data breakpoints of a test; they go at its end."""
    made = NativeWatch(program.native)
    yield made
    for number in list(made.targets):
        made.unwatch(number)


@pytest.fixture
def thread(program):
    """A thread that stands in the kernel; it has left it at the end."""
    thread = program.run_to("tensor_kernel::wait", "k")
    yield thread
    program.native.threads.resume(thread)
    assert program.heard() == "done k"


def changed(program, watch, thread, letter):
    """Let the kernel return and the program change a tensor; the hit, and the thread stands in the kernel again."""
    program.native.threads.resume(thread)
    program.say(letter)
    reason, thread, _ = program.stop()
    assert reason == "data breakpoint", program.story()
    hit = watch.hits(thread)[0]
    for number in list(watch.targets):
        watch.unwatch(number)
    program.native.threads.resume(thread)
    assert [program.heard(), program.heard()] == ["done k", f"done {letter}"]
    program.run_to("tensor_kernel::wait", "k")
    return hit


@pytest.mark.parametrize(
    ("expression", "shown", "old", "new", "letter", "mark"),
    [
        ("argument[3, 2]", "argument[3, 2] (float32)", "11.0", "7.25", "x", "write_x"),
        ("turned[2][-1]", "turned[2, -1] (float32)", "11.0", "12.0", "a", "add"),
        ("brain[1, 0]", "brain[1, 0] (bfloat16)", "1.0", "3.0", "b", "write_brain"),
        ("counts[2]", "counts[2] (int64)", "3", "-7", "i", "write_counts"),
        ("wait", "wait (float32 [2])", "[0.0, 0.0]", None, "s", "write_small"),
    ],
)
def test_an_element_is_watched_and_the_python_line_told(
    program, watch, thread, expression, shown, old, new, letter, mark
):
    target = watch.watch(thread, expression)
    assert (target.description, target.value) == (f"{shown} at {target.address:#x}", old)
    hit = changed(program, watch, thread, letter)
    assert hit.old == old
    assert hit.new == new or (new is None and "0.5" in hit.new)
    assert (hit.own.language, hit.own.function, hit.own.line) == ("python", "main", line_of(mark, PROGRAM))
    assert hit.text.startswith(f"{target.description}: {hit.old} → {hit.new} by main (")


def test_a_name_in_a_python_frame(program, watch, thread):
    stack = program.native.stack(thread)
    level = next(number for number, frame in enumerate(stack) if frame.function == "main")
    assert watch.target(thread, "x[0, 1]", level).value == "1.0"
    assert watch.target(thread, "model.weight[0, 0]", level).value == "0.25"
    assert watch.target(thread, "model.weight.grad[0, 1]", level).value == "3.0"
    with pytest.raises(GdbError) as refused:
        watch.target(thread, "argument[0, 1]", level)
    assert "This Python frame has no tensor 'argument[0, 1]'." in refused.value.message


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("x", "x (float32 [4, 3]) is 48 bytes long; the processor has 4 debug registers of up to 8 aligned bytes"),
        ("turned[0]", "The elements of turned[0] do not lie side by side."),
        ("x[4, 0]", "Index 4 is out of bounds for dimension 0 of x with size 4."),
        ("x[0, 0, 0]", "x has 2 dimensions, not 3."),
        ("x[nosuch, 0]", "'nosuch' is not an index that can be read here."),
        ("kernel", "cannot be evaluated"),
    ],
)
def test_what_cannot_be_watched_says_why(watch, thread, expression, message):
    with pytest.raises(GdbError) as refused:
        watch.watch(thread, expression)
    assert message in refused.value.message

"""The merge of two debuggers, driven without either."""

import pytest

from pyharness.debugger.action import AgentArm, AgentDisarm, Arm, ArmReturn, Disarm, Leave, Native, Python, Start
from pyharness.debugger.breaking.breakpoint import Breakpoint
from pyharness.debugger.machine import Machine
from pyharness.debugger.stop import NativeStopped, PythonStopped, Stopped
from pyharness.model.where import Where

MAIN, OTHER = 100, 200
KERNEL = Breakpoint(Where("native", file="kernel.cpp", line=9))


@pytest.fixture
def machine():
    """A program that stands at a Python breakpoint on the main thread."""
    machine = Machine()
    assert machine.request("continue") == [Start()]
    assert machine.handle(PythonStopped(MAIN, "breakpoint")) == []
    assert machine.focus == Stopped(MAIN, "python", "breakpoint")
    return machine


def into_kernel(machine):
    machine.request("into")
    machine.handle(NativeStopped(MAIN, "arrived"))


def test_a_step_before_the_start_asks_for_a_stop_at_the_first_line():
    machine = Machine()
    assert machine.request("into") == [Start(stop=True)]
    machine.handle(PythonStopped(MAIN, "breakpoint"))
    assert machine.focus == Stopped(MAIN, "python", "entry")


@pytest.mark.parametrize(("request_", "command"), [("into", "stepIn"), ("into_native", "next")])
def test_into_arms_both_debuggers_and_the_first_wins(machine, request_, command):
    assert machine.request(request_) == [Arm(MAIN), Python(MAIN, command)]
    assert machine.focus is None
    assert machine.handle(NativeStopped(MAIN, "arrived")) == [Disarm()]
    assert machine.focus == Stopped(MAIN, "native", "step")


def test_into_a_line_without_native_code_ends_at_python_and_says_so(machine):
    machine.request("into")
    assert machine.handle(PythonStopped(MAIN, "step")) == [Disarm()]
    assert machine.focus == Stopped(MAIN, "python", "step", ran_nothing=True)


def test_over_and_out_of_python(machine):
    assert machine.request("over") == [Python(MAIN, "next")]
    machine.handle(PythonStopped(MAIN, "step"))
    assert machine.request("out") == [ArmReturn(MAIN), Python(MAIN, "stepOut")]
    assert machine.handle(PythonStopped(MAIN, "step")) == [Disarm()]


def test_out_of_python_that_native_code_called_goes_on_until_that_code_is_back(machine):
    machine.request("out")
    machine.returns_to_native(MAIN)
    assert machine.handle(PythonStopped(MAIN, "step")) == [Python(MAIN, "next")]
    assert machine.focus is None
    assert machine.handle(NativeStopped(MAIN, "arrived")) == [Disarm()]
    assert machine.focus == Stopped(MAIN, "native", "step")
    assert machine.request("continue") == [AgentDisarm(MAIN), Native(MAIN, "continue")]


def test_out_of_a_kernel_leaves_and_ends_at_the_python_line(machine):
    into_kernel(machine)
    assert machine.request("out") == [Leave(MAIN)]
    machine.handle(PythonStopped(MAIN, "breakpoint"))  # debugpy calls a stop that the agent armed a breakpoint
    assert machine.focus == Stopped(MAIN, "python", "step")


def test_stepping_off_the_end_of_a_kernel_leaves_it(machine):
    into_kernel(machine)
    assert machine.request("over") == [AgentArm(MAIN), Native(MAIN, "next")]
    assert machine.handle(NativeStopped(MAIN, "stepped", in_user_code=False)) == [Leave(MAIN, pending=True)]
    assert machine.focus is None
    machine.handle(PythonStopped(MAIN, "breakpoint"))
    assert machine.focus == Stopped(MAIN, "python", "step")


def test_a_step_that_could_not_begin_leaves_the_stop_and_begins_anew(machine):
    into_kernel(machine)
    stop = machine.focus
    begin = [AgentArm(MAIN), Native(MAIN, "next")]
    assert machine.request("over") == begin
    machine.stays(stop)
    assert machine.focus == stop
    assert machine.request("over") == begin


@pytest.mark.parametrize("stopped", [PythonStopped(MAIN + 1, "step"), NativeStopped(MAIN + 1, "data breakpoint")])
def test_a_step_that_could_not_begin_lets_another_stop_wait(machine, stopped):
    into_kernel(machine)
    stop = machine.focus
    machine.handle(stopped)
    machine.request("over", [KERNEL])
    other = machine.focus
    assert other.thread == MAIN + 1
    machine.stays(stop)
    assert machine.focus == stop
    machine.request("continue", [KERNEL])
    assert machine.focus == other


def test_native_stops_of_other_threads_wait_for_the_end_of_a_native_step(machine):
    """Threads that share a kernel stop where one of them is followed."""
    into_kernel(machine)
    machine.handle(NativeStopped(OTHER, "breakpoint", breakpoint=KERNEL))
    machine.request("over", [KERNEL])
    machine.handle(NativeStopped(OTHER + 1, "breakpoint", breakpoint=KERNEL))
    assert machine.focus is None
    assert machine.lets_wait
    machine.handle(NativeStopped(MAIN, "stepped"))
    assert machine.focus == Stopped(MAIN, "native", "step")
    for thread in (OTHER, OTHER + 1):
        machine.request("continue", [KERNEL])
        assert machine.focus == Stopped(thread, "native", "breakpoint", breakpoint=KERNEL)


def test_steps_go_on_from_a_thread_that_is_turned_to(machine):
    into_kernel(machine)
    first = machine.focus
    machine.handle(NativeStopped(OTHER, "breakpoint", breakpoint=KERNEL))
    assert machine.turn_to(OTHER + 1) is None
    assert machine.turn_to(OTHER) is machine.focus
    assert machine.request("over", [KERNEL]) == [AgentArm(OTHER), Native(OTHER, "next")]
    machine.handle(NativeStopped(OTHER, "stepped"))
    assert machine.focus == Stopped(OTHER, "native", "step")
    machine.request("continue", [KERNEL])
    assert machine.focus == first


def test_they_wait_no_longer_for_one_that_takes_long(machine):
    """The step may wait for one of them."""
    into_kernel(machine)
    machine.request("over", [KERNEL])
    machine.handle(NativeStopped(OTHER, "breakpoint", breakpoint=KERNEL))
    machine.hurry()
    machine.next_waiting([KERNEL])
    assert machine.focus.thread == OTHER
    machine.request("over", [KERNEL])
    machine.handle(NativeStopped(MAIN, "stepped"))
    assert machine.focus is None
    assert machine.lets_wait


@pytest.mark.parametrize("reason", ["signal", "exception", "data breakpoint"])
def test_what_another_thread_meets_is_told_during_a_native_step(machine, reason):
    into_kernel(machine)
    machine.request("over", [KERNEL])
    machine.handle(NativeStopped(OTHER, reason))
    assert machine.focus == Stopped(OTHER, "native", reason)


def test_a_native_line_step_stays_in_the_users_code(machine):
    into_kernel(machine)
    machine.request("over")
    assert machine.handle(NativeStopped(MAIN, "stepped")) == []
    assert machine.focus == Stopped(MAIN, "native", "step")


def test_a_step_goes_on_through_what_is_inlined_to_a_line_of_the_users(machine):
    machine.request("into")
    assert machine.handle(NativeStopped(MAIN, "arrived", inlined=True)) == [Arm(MAIN), Native(MAIN, "next")]
    assert machine.handle(NativeStopped(MAIN, "stepped", inlined=True)) == [Arm(MAIN), Native(MAIN, "next")]
    assert machine.focus is None
    assert machine.handle(NativeStopped(MAIN, "stepped")) == [Disarm()]
    assert machine.focus == Stopped(MAIN, "native", "step")


def test_a_loop_of_inlined_code_is_told_in_the_end(machine):
    into_kernel(machine)
    machine.request("over")
    steps = 0
    while machine.handle(NativeStopped(MAIN, "stepped", inlined=True)):
        steps += 1
    assert steps == 100
    assert machine.focus == Stopped(MAIN, "native", "step")


def test_an_instruction_of_inlined_code_is_told(machine):
    into_kernel(machine)
    machine.request("instruction")
    assert machine.handle(NativeStopped(MAIN, "stepped", inlined=True)) == []
    assert machine.focus == Stopped(MAIN, "native", "step")


def test_python_stays_armed_from_one_native_line_to_the_next(machine):
    into_kernel(machine)
    assert machine.request("over") == [AgentArm(MAIN), Native(MAIN, "next")]
    machine.handle(NativeStopped(MAIN, "stepped"))
    assert machine.request("over") == [Native(MAIN, "next")]
    machine.handle(NativeStopped(MAIN, "stepped"))
    assert machine.request("into") == [Arm(MAIN), Native(MAIN, "next")]
    machine.handle(NativeStopped(MAIN, "arrived"))
    assert machine.request("out") == [Leave(MAIN)]
    assert machine.leaves_for_native(MAIN) == []
    machine.handle(NativeStopped(MAIN, "stepped"))
    assert machine.request("over") == [Native(MAIN, "next")]
    machine.handle(NativeStopped(MAIN, "stepped"))
    assert machine.request("out") == [Leave(MAIN)]
    machine.leaves_for_python(MAIN)  # it arms it in its own way
    machine.handle(NativeStopped(MAIN, "breakpoint"))
    assert machine.request("over") == [AgentArm(MAIN), Native(MAIN, "next")]
    machine.handle(NativeStopped(MAIN, "breakpoint"))
    assert machine.request("instruction") == [Native(MAIN, "nexti")]
    machine.handle(NativeStopped(MAIN, "stepped"))
    assert machine.request("continue") == [AgentDisarm(MAIN), Native(MAIN, "continue")]
    machine.handle(NativeStopped(MAIN, "breakpoint"))
    assert machine.request("over") == [AgentArm(MAIN), Native(MAIN, "next")]


def test_python_is_armed_anew_after_a_stop_in_python(machine):
    into_kernel(machine)
    machine.request("over")
    machine.handle(PythonStopped(MAIN, "step"))
    into_kernel(machine)
    assert machine.request("over") == [AgentArm(MAIN), Native(MAIN, "next")]


def test_a_step_that_python_could_not_be_told_to_forget_ends_unseen(machine):
    into_kernel(machine)
    machine.request("over")
    machine.handle(NativeStopped(MAIN, "breakpoint"))
    assert machine.request("continue") == [AgentDisarm(MAIN), Native(MAIN, "continue")]
    machine.cannot_disarm(MAIN)
    assert machine.handle(PythonStopped(MAIN, "step")) == [Python(MAIN, "continue")]
    assert machine.handle(PythonStopped(MAIN, "step")) == []
    assert machine.focus is not None


@pytest.mark.parametrize("request_", ["over", "out", "instruction"])
def test_code_that_native_code_calls_back_is_run_through(machine, request_):
    into_kernel(machine)
    machine.request("over")
    machine.handle(NativeStopped(MAIN, "stepped"))
    machine.request(request_)
    assert machine.handle(PythonStopped(MAIN, "step", called_back=True)) == [Python(MAIN, "stepOut")]
    assert machine.handle(PythonStopped(MAIN, "step")) == [Python(MAIN, "next")]
    assert machine.focus is None
    machine.handle(NativeStopped(MAIN, "stepped"))
    assert machine.focus == Stopped(MAIN, "native", "step")
    assert machine.request("continue") == [AgentDisarm(MAIN), Native(MAIN, "continue")]


def test_a_breakpoint_in_code_that_native_code_calls_back_is_told(machine):
    into_kernel(machine)
    machine.request("over")
    assert machine.handle(PythonStopped(MAIN, "breakpoint", called_back=True)) == []
    assert machine.focus is not None


def test_into_stops_in_code_that_native_code_calls_back(machine):
    into_kernel(machine)
    machine.request("into")
    assert machine.handle(PythonStopped(MAIN, "step", called_back=True)) == [Disarm()]
    assert machine.focus == Stopped(MAIN, "python", "step")


def test_into_a_compiled_model_goes_on_to_its_first_node(machine):
    machine.request("into")
    assert machine.handle(PythonStopped(MAIN, "step", before_nodes=True)) == [Python(MAIN, "next")]
    assert machine.focus is None
    assert machine.handle(PythonStopped(MAIN, "step")) == [Disarm()]
    assert machine.focus == Stopped(MAIN, "python", "step", ran_nothing=True)
    machine.request("over")
    machine.handle(PythonStopped(MAIN, "step", before_nodes=True))
    assert machine.focus == Stopped(MAIN, "python", "step")


def test_into_from_native_code_arms_native_functions_and_python_callbacks(machine):
    into_kernel(machine)
    assert machine.request("into") == [AgentArm(MAIN), Arm(MAIN), Native(MAIN, "next")]
    assert machine.handle(PythonStopped(MAIN, "step")) == [Disarm()]


def test_continue_from_a_kernel_forgets_the_python_step_it_came_by(machine):
    into_kernel(machine)
    assert machine.request("continue") == [AgentDisarm(MAIN), Native(MAIN, "continue")]


def test_continue_from_a_native_breakpoint_has_no_python_step_to_forget(machine):
    machine.request("continue")
    machine.handle(NativeStopped(MAIN, "breakpoint"))
    assert machine.request("continue") == [Native(MAIN, "continue")]


def test_a_stop_of_another_thread_waits_in_line(machine):
    into_kernel(machine)
    assert machine.handle(NativeStopped(OTHER, "breakpoint")) == []
    assert machine.focus.thread == MAIN
    assert machine.request("continue")[-1] == Native(MAIN, "continue")
    assert machine.focus == Stopped(OTHER, "native", "breakpoint")


def test_a_breakpoint_of_another_thread_ends_a_step(machine):
    machine.request("into")
    assert machine.handle(NativeStopped(OTHER, "breakpoint")) == [Disarm()]
    assert machine.focus == Stopped(OTHER, "native", "breakpoint")


def test_a_step_out_ends_unseen_where_another_thread_has_gone_on_from_a_stop_since(machine):
    into_kernel(machine)
    assert machine.request("out") == [Leave(MAIN)]
    machine.handle(PythonStopped(OTHER, "breakpoint"))
    assert machine.request("continue") == [Python(OTHER, "continue")]
    assert machine.handle(PythonStopped(MAIN, "step")) == [Python(MAIN, "continue")]
    assert machine.focus is None


def test_a_crash_during_a_step_is_told_as_a_signal(machine):
    machine.request("over")
    machine.handle(NativeStopped(MAIN, "signal"))
    assert machine.focus == Stopped(MAIN, "native", "signal")


@pytest.mark.parametrize("reason", ["data breakpoint", "exception"])
def test_a_native_stop_of_another_kind_is_told_as_what_it_is(machine, reason):
    machine.request("into")
    assert machine.handle(NativeStopped(MAIN, reason, in_user_code=False)) == [Disarm()]
    assert machine.focus == Stopped(MAIN, "native", reason)


@pytest.mark.parametrize(("request_", "command"), [("instruction", "nexti"), ("into_instruction", "stepi")])
def test_a_step_of_one_instruction_ends_where_it_ends(machine, request_, command):
    into_kernel(machine)
    assert machine.request(request_) == [Native(MAIN, command)]
    assert machine.handle(NativeStopped(MAIN, "stepped", in_user_code=False)) == []
    assert machine.focus == Stopped(MAIN, "native", "step")


def test_a_step_of_one_instruction_in_python_is_a_line(machine):
    assert machine.request("instruction") == [Python(MAIN, "next")]


def test_a_breakpoint_inside_the_stepped_line_is_told_as_a_breakpoint(machine):
    machine.request("over")
    machine.handle(PythonStopped(MAIN, "breakpoint"))
    assert machine.focus == Stopped(MAIN, "python", "breakpoint")


def test_letting_go_leaves_nothing_armed(machine):
    into_kernel(machine)
    assert machine.release() == [AgentDisarm(MAIN)]
    assert machine.focus is None


def test_a_request_while_the_program_runs_does_nothing(machine):
    machine.request("continue")
    assert machine.request("over") == []

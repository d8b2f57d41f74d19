"""A client that leaves what it attached to: that runs on as if nobody had been there, and nothing else is left."""

import pytest
import states
from debugging import Debugging

from kit.running_program import Running

pytestmark = pytest.mark.rotated_tests(turns=3)


SCRIPT = "attach_loop.py"


def named(state):
    return state.__name__


@pytest.fixture
def walker(dap):  # noqa: ARG001  (it sets the path of modules)
    """A program of somebody else's that goes into native code again and again."""
    program = Running(SCRIPT, "native")
    yield program
    program.kill()


def attached(client, walker, *marks, native=(), **arguments):
    program = Debugging(client, SCRIPT)
    program.initialize()
    answer = client.post("attach", processId=walker.pid, **arguments)
    client.event("initialized")
    program.configure(marks, native)
    assert client.response(answer)["success"]
    return program


def attaching(client, walker):
    Debugging(client, SCRIPT).initialize()
    client.post("attach", processId=walker.pid)


def configuring(client, walker):
    program = Debugging(client, SCRIPT)
    program.initialize()
    client.post("attach", processId=walker.pid)
    client.event("initialized")
    program.set_lines(program.script, [program.line("repeat")])


def running(client, walker):
    attached(client, walker)
    client.request("threads")


def standing_in_python(client, walker):
    assert attached(client, walker, "released").stood().function == "native"


def standing_in_native_code(client, walker):
    assert attached(client, walker, native=("scaled",)).stood().function == "crossing::scaled"


def stepping(client, walker):
    program = attached(client, walker, "released")
    client.request("stepIn", threadId=program.stood().thread)


def standing_after_steps(client, walker):
    program = attached(client, walker, "released")
    stood = program.into(program.stood())
    assert stood.function == "crossing::released"
    assert program.out(stood).function == "native"


STATES = (
    attaching,
    configuring,
    running,
    standing_in_python,
    standing_in_native_code,
    stepping,
    standing_after_steps,
)
at_any_state = pytest.mark.parametrize("state", STATES, ids=named)


@pytest.mark.rotated
@at_any_state
def test_a_client_that_hangs_up(dap, walker, state):
    client = dap.stdio()
    state(client, walker)
    client.hang_up()
    assert not dap.wait_gone()
    walker.ends_free()


@pytest.mark.rotated
@at_any_state
def test_a_client_that_disconnects(dap, walker, state):
    client = dap.stdio()
    state(client, walker)
    client.request("disconnect")
    client.wait_end()
    assert not dap.wait_gone()
    walker.ends_free()


@pytest.mark.rotated
@pytest.mark.parametrize("state", [running, standing_in_python, standing_in_native_code], ids=named)
def test_a_client_that_ends_what_it_attached_to(dap, walker, state):
    client = dap.stdio()
    state(client, walker)
    client.request("disconnect", terminateDebuggee=True)
    assert not dap.wait_gone()
    assert walker.end()[0] < 0


@pytest.mark.rotated
@pytest.mark.parametrize(
    "state",
    [states.standing_in_python, states.standing_in_native_code, states.waiting_in_native_code],
    ids=named,
)
def test_a_client_that_leaves_what_it_launched_running(dap, tmp_path, state):
    client = dap.stdio()
    state(client, tmp_path)
    program = client.event("process")["systemProcessId"]
    client.request("disconnect", terminateDebuggee=False)
    client.wait_end()
    assert not dap.wait_gone(spared={program})
    states.go_on(tmp_path)
    assert not dap.wait_gone()


def test_a_client_that_terminates_what_it_attached_to(dap, walker):
    program = attached(dap.stdio(), walker, "released")
    program.stood()
    program.client.request("terminate")
    assert program.run_out() == -15
    program.leave()
    assert walker.end()[0] == -15

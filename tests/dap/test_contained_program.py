"""A client outside of the container that its program runs in: breakpoints, steps and values go through both halves."""

import pytest
from debugging import Debugging

from kit.marks import line_of
from kit.paths import PROGRAMS

pytestmark = pytest.mark.rotated_tests(turns=2)

SOURCE = PROGRAMS / "tally.c"
MAPPINGS = [{"localRoot": str(PROGRAMS), "remoteRoot": "/app"}]


@pytest.fixture
def attached(dap, contained):
    """A client that has the program's files elsewhere than the program has them."""
    container = contained()
    program = Debugging(dap.stdio(), "ledger.py")
    program.initialize()
    answer = program.client.post("attach", processId=container.pid, pathMappings=MAPPINGS)
    program.client.event("initialized")
    program.set_lines(str(SOURCE), [line_of("weight", SOURCE)])
    program.configure(marks=["calls"])
    assert program.client.response(answer)["success"]
    program.client.event("process")  # it is debugged from here on
    return program, container


def test_steps_go_into_its_native_code_and_back(attached):
    program, container = attached
    container.say("4\n")
    stood = program.stood()
    assert (program.at(stood), stood.file) == ("calls", program.script)
    stood = program.into(stood)
    assert (program.at(stood), stood.file, stood.function) == ("first", str(SOURCE), "add")
    stood = program.run_on(stood)
    assert (program.at(stood), stood.reason) == ("weight", "breakpoint")
    assert program.variables(stood.frame)["number"]["value"] == "4"
    named = [frame["name"] for frame in program.stack(stood.thread)]
    assert [name for name in named if not name.startswith("[")][:3] == ["weigh", "add", "entry"]
    stood = program.out(stood)
    assert program.at(stood) == "weighs"
    stood = program.out(stood)
    assert program.at(stood) == "after"
    assert program.evaluate("total + 1", stood.frame) == "14"


def test_it_runs_on_when_the_client_leaves_at_a_native_stop(attached):
    program, container = attached
    container.say("4\n")
    program.into(program.stood())
    program.leave()
    assert container.hear() == "13"
    container.say("5\n")
    assert container.hear() == "16"
    assert container.end() == (0, "temporary []\n", "")


def test_a_place_that_needs_its_engine_is_refused_with_the_remedy(attached):
    program, _ = attached
    (answer,) = program.client.request("setFunctionBreakpoints", breakpoints=[{"name": "op:aten::relu"}])["breakpoints"]
    assert not answer["verified"]
    assert "docker exec" in answer["message"]

"""Data breakpoints through a client: elements of tensors and C++ values, with conditions and hit conditions."""

import os

import pytest
from debugging import EXTENSION, Debugging

from kit import builds
from kit.paths import PROGRAMS

pytestmark = pytest.mark.rotated_tests(turns=5)


def info(program, name, **where):
    return program.client.request("dataBreakpointInfo", name=name, **where)


def watch(program, *breakpoints):
    return program.client.request("setDataBreakpoints", breakpoints=list(breakpoints))["breakpoints"]


def inside(program, variable, name):
    return next(each for each in program.children(variable) if each["name"] == name)


@pytest.fixture
def tensors(dap):
    program = Debugging(dap.stdio(), "watched_in_threads.py").launch("made", "joined")
    yield program, program.stood()
    program.leave()


def test_an_element_of_a_tensor_by_every_name(tensors):
    program, stood = tensors
    element = info(program, "x[1, 0]", frameId=stood.frame)
    assert element["description"].startswith("x[1, 0] (float32) at 0x")
    assert set(element["accessTypes"]) == {"write", "read", "readWrite"}
    row = inside(program, program.variables(stood.frame)["x"], "[1]")
    assert inside(program, row, "[0]")["value"] == "0.0"
    shown = info(program, "[0]", variablesReference=row["variablesReference"])
    assert shown["description"].replace("[1][0]", "[1, 0]") == element["description"]
    evaluated = program.client.request("evaluate", expression="[x]", frameId=stood.frame, context="watch")
    assert evaluated["variablesReference"]
    held = info(program, "[x][0][1][0]", frameId=stood.frame)
    assert held["description"].rpartition(" at ")[2] == element["description"].rpartition(" at ")[2]
    assert info(program, "x", frameId=stood.frame)["description"].startswith("x (float32 [2, 2]) at 0x")
    for name, why in (("nosuch", "is not defined"), ("torch", "torch is not a tensor"), ("x[5, 0]", "5")):
        refused = info(program, name, frameId=stood.frame)
        assert refused["dataId"] is None
        assert why in refused["description"]


def test_what_the_debugger_writes_is_no_stop(tensors):
    program, stood = tensors
    data = info(program, "x[1, 0]", frameId=stood.frame)["dataId"]
    assert watch(program, {"dataId": data, "accessType": "write"})[0]["verified"]
    program.evaluate("x.__setitem__((1, 0), 5.0)", stood.frame)
    assert program.evaluate("x[1, 0].item()", stood.frame) == "5.0"
    program.client.request("continue", threadId=stood.thread)
    body = program.client.event("stopped")
    assert body["reason"] == "data breakpoint"
    assert ": 5.0 → 6.0 by change" in body["text"]
    watch(program)
    program.client.request("continue", threadId=body["threadId"])
    assert program.at(program.stood()) == "joined"


@pytest.fixture
def one_processor():
    """All that this thread starts meanwhile shares one processor: whoever sends is overtaken by whom it wakes."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    yield
    os.sched_setaffinity(0, before)


@pytest.mark.usefixtures("one_processor")
def test_a_stop_in_an_expression_may_come_before_its_request_is_sent(dap):
    program = Debugging(dap.stdio(), "watched_in_threads.py").launch("made")
    stood = program.stood()
    data = info(program, "x[1, 0]", frameId=stood.frame)["dataId"]
    watch(program, {"dataId": data, "accessType": "write"})
    for value in range(20):
        program.evaluate(f"x.__setitem__((1, 0), {value}.5)", stood.frame)
    program.leave()


def test_who_writes_it_is_told(tensors):
    program, stood = tensors
    data = info(program, "x[1, 0]", frameId=stood.frame)["dataId"]
    answers = watch(
        program,
        {"dataId": data, "accessType": "write", "condition": "$value > 1", "hitCondition": "1"},
        {"dataId": "x"},
        {"dataId": data, "condition": "$value >"},
        {"dataId": data, "hitCondition": "often"},
    )
    assert [answer["verified"] for answer in answers] == [True, False, False, False]
    for answer, why in zip(
        answers[1:], ("does not come from dataBreakpointInfo", "does not parse", "is not understood"), strict=True
    ):
        assert why in answer["message"]
    main = stood.thread
    program.client.request("continue", threadId=main)
    body = program.client.event("stopped")
    assert (body["reason"], body["hitBreakpointIds"]) == ("data breakpoint", [answers[0]["id"]])
    assert body["threadId"] != main
    assert "x[1, 0] (float32)" in body["description"]
    assert f": 1.0 → 3.0 by change ({program.script}:{program.line('change')})" in body["text"]
    names = [frame["name"] for frame in program.stack(body["threadId"])]
    assert "change" in names
    assert watch(program) == []
    program.client.request("continue", threadId=body["threadId"])
    stood = program.stood()
    assert (program.at(stood), program.evaluate("x[1, 0].item()", stood.frame)) == ("joined", "3.0")


def test_a_variable_of_cxx(dap):
    program = Debugging(dap.stdio(), "core_crossing.py").launch(native=("call",))
    stood = program.stood()
    arguments = program.scopes(stood.frame)["Arguments"]
    found = info(program, "value", variablesReference=arguments["variablesReference"])
    assert found["description"].startswith("value")
    assert info(program, "value", frameId=stood.frame)["dataId"]
    first = info(program, "first", frameId=stood.frame)
    (answer,) = watch(program, {"dataId": first["dataId"], "accessType": "write"})
    assert answer["verified"]
    stood = program.run_on(stood)
    assert (stood.reason, stood.function) == ("data breakpoint", "crossing::call")
    assert "→ 4 by crossing::call" in stood.body["text"]
    assert program.evaluate("first", stood.frame) == "4"
    watch(program)
    program.set_lines(EXTENSION, [])
    assert program.run_out(stood) == 7
    program.leave()


def test_a_stop_after_python_has_ended_is_one_and_the_end_comes(dap):
    """The thread that ends the process is held where debugpy has left it: that is not the loss of debugpy."""
    library = builds.compiled(PROGRAMS / "writes_last.cpp", ".so", "-g", "-fPIC", "-shared")
    program = Debugging(dap.stdio(), "writes_last.py").launch(functions=["native:set_cell"], args=[str(library)])
    stood = program.stood()
    found = info(program, "cell", frameId=stood.frame)
    watch(program, {"dataId": found["dataId"], "accessType": "write"})
    stood = program.run_on(stood)
    assert "→ 1 by set_cell" in stood.body["text"]
    program.client.request("setFunctionBreakpoints", breakpoints=[])
    stood = program.run_on(stood)
    assert "→ 2 by set_cell" in stood.body["text"]
    stood = program.run_on(stood)
    assert "→ 3 by writes_last" in stood.body["text"]
    assert program.run_out(stood) == 0
    said = "".join(body["output"] for body in program.client.events("output"))
    assert "ended unexpectedly" not in said
    program.leave()

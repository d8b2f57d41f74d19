"""Pause finds the program wherever it is, shows both halves there, and lets it go on as if nothing had been."""

import threading

import pytest
from debugging import Debugging
from states import says

pytestmark = pytest.mark.rotated_tests(turns=5)


# Where it stays → the innermost frame that is somebody's own, and a local variable of the Python function.
PLACES = {
    "loop": ("loop", "number", None),
    "sleep": ("sleep", "seconds", "100000"),
    "lock": ("lock", "held", "<_thread.lock at "),
    "native_loop": ("crossing::repeat", "count", "2147483647"),
    "released": ("crossing::wait_for", "descriptor", ""),
    "holding": ("crossing::wait_holding", "descriptor", ""),
}


def begun(dap, place):
    program = Debugging(dap.stdio(), "dap_pauses.py").launch(args=[place])
    says(program.client, "there")
    (main,) = program.client.request("threads")["threads"]
    assert main["name"] == "MainThread"
    return program, main["id"]


def paused(program, thread):
    """Pause, and the frames with a source where it stands."""
    program.client.request("pause", threadId=thread)
    body = program.client.event("stopped")
    assert (body["reason"], body["threadId"]) == ("pause", thread)
    return [frame for frame in program.stack(thread) if "source" in frame]


@pytest.mark.rotated
@pytest.mark.parametrize("place", PLACES)
def test_pause(dap, place):
    program, main = begun(dap, place)
    innermost, name, value = PLACES[place]
    for _ in range(2):
        frames = paused(program, main)
        names = [frame["name"] for frame in frames]
        assert names[0] in {innermost, "crossing::tick"}
        assert {innermost, place, "<module>"} <= set(names)
        python = frames[names.index(place)]
        assert python["line"] in {program.line(place), program.line(place) - 1}
        shown = program.variables(python["id"])[name]["value"]
        assert shown.startswith(value) if value else shown.isdigit()
        assert program.evaluate(f"[{name}, 1 + 1][1]", python["id"]) == "2"
        assert program.client.request("threads")["threads"] == [{"id": main, "name": "MainThread"}]
        program.client.request("continue", threadId=main)
    program.leave()


def test_what_is_evaluated_at_a_pause_does_not_pause_itself(dap):
    """debugpy was asked for the pause, too, and comes to know of it when the expression lets go of the GIL."""
    program, main = begun(dap, "holding")
    native, python = paused(program, main)[:2]
    assert [native["name"], python["name"]] == ["crossing::wait_holding", "holding"]
    slow = "[__import__('time').sleep(0.2), (lambda: descriptor + 1)() - descriptor][1]"
    for _ in range(3):
        assert program.evaluate(slow, python["id"]) == "1"
    program.client.request("continue", threadId=main)
    program.leave()


def test_a_program_that_stands_cannot_be_paused_and_one_that_runs_cannot_be_looked_at(dap):
    program, main = begun(dap, "loop")
    for command, arguments in (
        ("scopes", {"frameId": 1}),
        ("evaluate", {"expression": "1"}),
        ("next", {"threadId": main}),
        ("readMemory", {"memoryReference": "0x10", "count": 1}),
    ):
        assert "the program runs" in program.client.refused(command, **arguments)
    frames = paused(program, main)
    assert "is stopped already" in program.client.refused("pause", threadId=main)
    (second,) = program.client.request("stackTrace", threadId=main, startFrame=1, levels=1)["stackFrames"]
    assert second["name"] == program.stack(main)[1]["name"]
    for wrong in ("1 / 0", "number +", "nothing_of_that_name"):
        assert "Error" in program.client.refused("setVariable", **variable(program, frames[0]["id"], "number", wrong))
    program.client.request("setVariable", **variable(program, frames[0]["id"], "number", "-1"))
    program.client.request("continue", threadId=main)
    assert program.run_out() == 0
    program.leave()


@pytest.mark.rotated
@pytest.mark.parametrize("name", ["nmber", "number; import os"])
def test_a_variable_that_is_not_there_is_not_made(dap, name):
    """debugpy would put it into the globals of the user's module."""
    program, main = begun(dap, "loop")
    frames = paused(program, main)
    asked = variable(program, frames[0]["id"], name, "1")
    assert f"There is no variable {name!r}" in program.client.refused("setVariable", **asked)
    assert program.evaluate(f"{name!r} in globals()", frames[0]["id"]) == "False"
    program.client.request("disconnect", terminateDebuggee=True)


@pytest.mark.rotated
@pytest.mark.parametrize("path", ["/nonexistent\0.py", "/nonexistent\ud800.py", "/nonexistent\0.cpp"], ids=ascii)
def test_a_source_that_no_file_can_be_called_is_refused(dap, path):
    """debugpy ends its connection at some of them, and the program that stood ran on."""
    program, main = begun(dap, "loop")
    paused(program, main)
    for command, more in (
        ("setBreakpoints", {"breakpoints": [{"line": 1}]}),
        ("gotoTargets", {"line": 1}),
        ("breakpointLocations", {"line": 1}),
        ("source", {"sourceReference": 0}),
    ):
        assert "no file can be called" in program.client.refused(command, source={"path": path}, **more)
    program.client.request("disconnect", terminateDebuggee=True)


def variable(program, frame, name, value):
    reference = program.scopes(frame)["Locals"]["variablesReference"]
    return {"variablesReference": reference, "name": name, "value": value}


def test_a_thread_that_waits_for_another(dap):
    program = Debugging(dap.stdio(), "dap_pauses.py").launch("loop", args=["join"])
    worker = program.stood()
    threads = {thread["id"]: thread["name"] for thread in program.client.request("threads")["threads"]}
    assert threads.pop(worker.thread).startswith("Thread-")
    ((main, name),) = threads.items()
    assert name == "MainThread"
    frames = [frame for frame in program.stack(main) if "source" in frame]  # it runs, as far as it can
    code = threading.Thread.join.__code__  # further in it waits in each Python otherwise
    assert [frame["name"] for frame in frames[-3:]] == [getattr(code, "co_qualname", "join"), "join", "<module>"]
    assert frames[-2]["line"] == program.line("join")
    joins = frames[-2]["id"]
    assert program.variables(joins)["worker"]["type"] == "Thread"
    refused = program.client.refused("evaluate", expression="worker.is_alive()", frameId=joins)
    assert "cannot be evaluated" in refused
    program.leave()

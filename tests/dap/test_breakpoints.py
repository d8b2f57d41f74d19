"""Breakpoints with conditions, hit conditions and log messages, in both languages, by line and by function."""

import subprocess
import sys
from pathlib import Path

import pytest
from debugging import EXTENSION, Debugging

from kit.builds import tensor_kernel

pytestmark = pytest.mark.rotated_tests(turns=5)


LOOKS = ["x[0, 0].item()", "mul[0, 0].item()", "gradients.size()", "number", "number"]
CROSSING, MODEL = "core_crossing.py", "dap_model.py"


def begun(dap, script, **arguments):
    """A program that waits for its breakpoints."""
    program = Debugging(dap.stdio(), script)
    program.initialize()
    program.client.post("launch", program=program.script, **arguments)
    program.client.event("initialized")
    return program


def functions(program, *breakpoints):
    """Function breakpoints; what the adapter answers."""
    found = program.client.request("setFunctionBreakpoints", breakpoints=list(breakpoints))["breakpoints"]
    assert len(found) == len(breakpoints)
    program.breakpoints += found
    return found


def changed(program, index):
    """What becomes of a breakpoint."""
    number = program.breakpoints[index]["id"]
    return program.client.event("breakpoint", lambda body: body["breakpoint"]["id"] == number)["breakpoint"]


def met(program, expressions):
    """Run to the end; the mark of each stop with its breakpoint's index and the value of an expression of that one."""
    numbers = [each.get("id") for each in program.breakpoints]
    found = []
    while stood := program.stood_or_ended():
        (hit,) = stood.body["hitBreakpointIds"]
        index = numbers.index(hit)
        assert stood.reason == "breakpoint"
        found.append((index, program.at(stood), program.evaluate(expressions[index], stood.frame)))
        program.client.request("continue", threadId=stood.thread)
    return found


@pytest.mark.always
def test_lines_of_both_languages(dap):
    program = begun(dap, CROSSING)
    line, native = program.line, program.native_line
    program.set_lines(
        program.script,
        [
            {"line": line("loop"), "condition": "number % 2  # odd", "hitCondition": "2"},
            {"line": line("element"), "hitCondition": "> 1"},
            {"line": line("local"), "logMessage": "local of {number}, {number * 2}"},
            {"line": line("print"), "condition": "a == 4"},
        ],
    )
    program.set_lines(
        EXTENSION,
        [
            {"line": native("scaled"), "condition": "factor == 2 && value > 1", "hitCondition": "% 2"},
            {"line": native("tick"), "logMessage": "tick {n}, {n * 2}, {nosuch}", "hitCondition": ">= 5"},
            {"line": native("call_return"), "hitCondition": "2"},
        ],
    )
    program.client.request("configurationDone")
    found = met(program, ["number", "number", "", "", "value", "", ""])
    assert found == [
        (1, "element", "1"),
        (1, "element", "2"),
        (4, "scaled", "2"),
        (0, "loop", "3"),
        (4, "scaled", "4"),
    ]
    assert program.run_out() == 7
    said = program.output().splitlines()
    assert said[0] == "local of 4, 8"
    assert [text for text in said if text.startswith("tick")] == [
        'tick 4, 8, <No symbol "nosuch" in current context.>',
        'tick 5, 10, <No symbol "nosuch" in current context.>',
    ]
    program.leave()


def test_functions_by_every_name(dap):
    program = begun(dap, MODEL, args=[str(tensor_kernel())])
    functions(
        program,
        {"name": "fx:first", "hitCondition": "2"},
        {"name": "op:tensor_kernel::wait", "condition": "mul is not None and mul[0, 0] > 5"},
        {"name": "tensor_kernel::Waiting::apply", "hitCondition": ">= 3"},
        {"name": "train", "condition": "number == 1"},
        {"name": f"py:dap_model.py:{program.line('loss')}", "hitCondition": "4"},
        {"name": "py:nosuch"},
        {"name": "fx:nosuch"},
        {"name": "tensor_kernel::nosuch"},
    )
    assert [each["verified"] for each in program.breakpoints] == [False] * 3 + [True] * 3 + [False] * 2
    program.client.request("configurationDone")
    assert changed(program, 2)["source"]["name"] == "tensor_kernel.cpp"
    assert changed(program, 0)["source"]["name"].startswith("Net_")
    assert [(index, value) for index, _, value in met(program, LOOKS)] == [
        (3, "1"),
        (0, "1.0"),
        (2, "1"),
        (1, "6.0"),
        (2, "1"),
        (4, "3"),
    ]
    assert program.run_out() == 0
    said = program.output("console")
    for text in (
        "No function nosuch has run.",
        "No graph of the program has fx:nosuch",
        "has native:tensor_kernel::nosuch",
    ):
        assert text in said
    program.leave()


def test_what_cannot_be_meant_is_said_of_each_and_the_others_hold(dap):
    program = begun(dap, CROSSING)
    wrong = [
        ({"name": "fx:mul", "condition": "x.shape[0] =="}, "is not a Python expression"),
        ({"name": "py:nosuch.py:5"}, "There is no file 'nosuch.py'"),
        ({"name": "py:Net.forward"}, "names no line"),
        ({"name": "a.b-c"}, "is not a place to stop at"),
        ({"name": "held", "hitCondition": "often"}, "The hit condition 'often' is not understood"),
    ]
    answers = functions(program, *[each for each, _ in wrong], {"name": "local"})
    assert answers.pop()["verified"]
    lines = [
        ({"line": program.line("held"), "condition": "a ="}, "is not a Python expression"),
        ({"line": program.line("released"), "hitCondition": "=> 2"}, "is not understood"),
        ({"line": program.line("loop"), "hitCondition": "2"}, ""),
    ]
    answers += program.set_lines(program.script, [each for each, _ in lines])
    assert answers.pop()["verified"]
    program.set_lines(EXTENSION, [{"line": program.native_line("held"), "condition": "value ==="}])
    program.client.request("configurationDone")
    answers.append(changed(program, -1))
    messages = [message for _, message in (*wrong, *lines) if message] + ["does not parse"]
    assert [each["reason"] for each in answers] == ["failed"] * len(messages)
    for answer, message in zip(answers, messages, strict=True):
        assert message in answer["message"]
    stood = program.stood()
    assert (stood.function, program.evaluate("number", stood.frame)) == ("local", "4")
    stood = program.run_on(stood)
    assert (program.at(stood), program.evaluate("number", stood.frame)) == ("loop", "1")
    assert program.run_out(stood) == 7
    assert "native:" not in program.output("console")  # what failed was said when it did
    program.leave()


def test_a_condition_that_raises_stops_there_and_says_so(dap):
    program = begun(dap, CROSSING)
    program.set_lines(
        program.script,
        [
            {"line": program.line("held"), "logMessage": "leaves with {exit(3)}"},
            {"line": program.line("loop"), "condition": "no_such", "hitCondition": "> 9"},
            {"line": program.line("element"), "condition": "exit(3)", "logMessage": "not this"},
        ],
    )
    program.set_lines(EXTENSION, [{"line": program.native_line("tick"), "condition": "*(int *) 8 == n"}])
    program.client.request("configurationDone")
    stood = program.stood()
    assert stood.function == "crossing::tick"
    assert "could not be tested: Cannot access memory at address 0x8" in stood.body["text"]
    program.set_lines(EXTENSION, [])
    program.client.request("continue", threadId=stood.thread)
    for count in ("", " (2 times so far)"):
        stood = program.stood()
        assert stood.line == program.line("loop")
        assert stood.body["text"].endswith(f"raised NameError: name 'no_such' is not defined{count}.")
        assert "The condition 'no_such' at" in stood.body["text"]
        program.client.request("continue", threadId=stood.thread)
    program.set_lines(program.script, [])
    while stood := program.stood_or_ended():
        program.client.request("continue", threadId=stood.thread)
    assert program.run_out() == 7
    said = [event["output"] for event in program.client.events("output") if event["category"] == "important"]
    assert sum("SystemExit: 3 (the program goes on)" in text for text in said) == 1
    assert sum("no_such" in text for text in said) >= 2
    assert sum("0x8" in text for text in said) == 1
    assert not any("not this" in text for text in said)
    program.leave()


MANY = """import threading, time
def spin(number):
    turn = 0
    while True:
        turn += 1
        time.sleep(0.01)
for number in range(400):
    threading.Thread(target=spin, args=(number,), daemon=True).start()
print("begun", flush=True)
time.sleep(120)
"""


def test_a_condition_is_ours_to_test_from_the_first_hit_on(dap, tmp_path):
    """So many threads come to the line that debugpy does not get through with its start for long."""
    script = tmp_path / "many.py"
    script.write_text(MANY)
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "begun\n"
            client = dap.tcp()
            program = Debugging(client, str(script))
            program.initialize()
            client.post("attach", processId=process.pid, token=dap.token)
            client.event("initialized")
            program.set_lines(program.script, [{"line": 5, "condition": "number == 399 and turn > 5"}])
            program.configure()
            stood = program.stood()
            assert program.evaluate("number", stood.frame) == "399"
            assert "Error" not in program.output("important")
        finally:
            process.kill()


NAMESAKE = """import os
import torch


def read():
    return 1  # @read


ends = os.pipe()
os.write(ends[1], b"x")
os.read(ends[0], 1)
read()
"""


@pytest.mark.parametrize(("name", "file"), [("read", "namesake.py"), ("native:read", "")])
def test_a_bare_name_means_functions_of_yours_and_native_one_of_others_in_full(dap, tmp_path, name, file):
    script = tmp_path / "namesake.py"
    script.write_text(NAMESAKE)
    program = begun(dap, str(script))
    functions(program, {"name": name})
    program.client.request("configurationDone")
    stood = program.stood()
    assert (stood.function, Path(stood.file).name) == ("read", file)
    program.client.request("setFunctionBreakpoints", breakpoints=[])
    assert program.run_out(stood) == 0
    program.leave()

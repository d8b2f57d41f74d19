"""Expressions and values that block or exit, through a client: they are ended or cancelled, and nothing else is."""

import os
from contextlib import contextmanager

import pytest
from debugging import Debugging

PROGRAM = "hostile_values.py"
ENDED = "<TimeoutError: it took longer than 0.5 s and was ended>"


@pytest.fixture
def at_look(dap):
    """Start the program with a limit; it stands in Python, or in the native code below."""

    def launch(language, seconds):
        program = Debugging(dap.stdio(), PROGRAM)
        functions = [] if language == "python" else ["native:held"]
        program.launch(*(["look"] if language == "python" else []), functions=functions, evalTimeout=seconds)
        return program, program.stood()

    return launch


@contextmanager
def begins(language):
    """An expression that blocks, and what waits until it runs."""
    read, write = os.pipe()
    try:
        path = f"/proc/{os.getpid()}/fd/{write}"
        blocks = {
            "python": f"py:[open({path!r}, 'wb').write(b'x'), time.sleep(600)]",
            "C++": f'native:(long)write((int)open("{path}", 1), "x", 1L) + (int)pause()',
        }
        yield blocks[language], lambda: os.read(read, 1)
    finally:
        os.close(read)
        os.close(write)


def test_values_that_block_or_exit_are_shown_as_such(at_look):
    program, stood = at_look("python", 0.5)
    values = program.variables(stood.frame)
    assert values["exits"]["value"] == "<SystemExit: 3 (the program goes on)>"
    assert values["blocks"]["value"] == ENDED
    shown = program.client.request("evaluate", expression="leaves", frameId=stood.frame, context="hover")
    assert shown["result"].startswith("<__main__.Leaves object at")  # debugpy shows what its repr raises so
    assert values["speaks"]["value"] == "Speaks()"
    assert values["big"]["value"] == hex(16**5000)
    assert values["raises"]["value"].endswith(", whose __repr__ raised ValueError: no text>")
    assert values["opaque"]["value"].startswith("<__main__.Opaque object at")
    assert values["several"]["value"].endswith("SystemExit: 3 (the program goes on)>, 1]")
    assert program.evaluate("number", stood.frame) == "1"
    program.client.request("evaluate", expression="print('said')", frameId=stood.frame, context="repl")
    assert program.client.event("output", lambda body: body["output"] == "said\n")["category"] == "stdout"
    program.set_lines(program.script, [])
    assert program.run_out(stood) == 7
    program.leave()


@pytest.mark.rotated
@pytest.mark.parametrize(("stands", "language"), [("python", "python"), ("native", "python"), ("native", "C++")])
def test_cancel_ends_an_expression_and_drops_one_that_waits(at_look, stands, language):
    program, stood = at_look(stands, 600)
    with begins(language) as (expression, has_begun):
        runs = program.client.post("evaluate", expression=expression, frameId=stood.frame, context="repl")
        has_begun()
        waits = program.client.post("evaluate", expression="py:1/0", frameId=stood.frame, context="repl")
        for number in (waits, runs):
            program.client.post("cancel", requestId=number)
        for number in (runs, waits):
            response = program.client.response(number)
            assert not response["success"]
            assert response["message"] == "cancelled"
    assert program.evaluate("py:number", stood.frame) == "1"
    program.leave()


@pytest.mark.rotated
@pytest.mark.parametrize(("stands", "language"), [("python", "python"), ("native", "python"), ("native", "C++")])
def test_who_leaves_does_not_wait_for_an_expression(at_look, stands, language):
    program, stood = at_look(stands, 600)
    with begins(language) as (expression, has_begun):
        program.client.post("evaluate", expression=expression, frameId=stood.frame, context="repl")
        has_begun()
        program.leave()


@pytest.mark.parametrize("seconds", [0, -5, "5", True])
def test_a_limit_that_is_none_is_refused(dap, seconds):
    program = Debugging(dap.stdio(), PROGRAM)
    program.initialize()
    said = program.client.refused("launch", program=program.script, evalTimeout=seconds)
    assert "'evalTimeout' must be a number" in said or "The time limit of an expression cannot be" in said

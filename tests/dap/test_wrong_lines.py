"""Lines and addresses that nothing can have are refused where they are set: debuggers would count on from 0."""

import os

import pytest
from debugging import EXTENSION, Debugging

WRAPPED = 1 << 32


@pytest.fixture
def begun(dap):
    """A program that waits for its breakpoints."""
    program = Debugging(dap.stdio(), "core_crossing.py")
    program.initialize()
    program.client.post("launch", program=program.script)
    program.client.event("initialized")
    return program


def set_at(program, path, *lines):
    return program.client.request(
        "setBreakpoints", source={"path": str(path)}, breakpoints=[{"line": line} for line in lines]
    )["breakpoints"]


def test_lines(begun):
    wrong = [0, -1, WRAPPED - (1 << 31), WRAPPED + begun.native_line("tick")]
    for path in (EXTENSION, begun.script):
        answers = set_at(begun, path, *wrong)
        assert [each["verified"] for each in answers] == [False] * len(wrong)
        assert [each["message"].split(".")[0] for each in answers] == [f"There is no line {line}" for line in wrong]
    behind = set_at(begun, EXTENSION, 9999)[0]
    assert (behind["verified"], "lines" in behind["message"]) == (False, True)


def test_addresses(begun):
    wanted = [{"instructionReference": "0xffffffffffffffff", "offset": 1}, {"instructionReference": "9" * 20}]
    wanted += [{"instructionReference": "0x10", "offset": -17}]
    answers = begun.client.request("setInstructionBreakpoints", breakpoints=wanted)["breakpoints"]
    assert [each["verified"] for each in answers] == [False] * 3
    assert all(each["message"].startswith("There is no address") for each in answers)


@pytest.mark.rotated
@pytest.mark.parametrize("name", ["it.py", "it.cpp"])
@pytest.mark.parametrize("what", ["a pipe", "endless"])
def test_lines_of_what_is_no_file(begun, tmp_path, what, name):
    """They were read for ever, until memory was gone."""
    path = tmp_path / name
    if what == "endless":
        path.symlink_to("/dev/zero")
    else:
        os.mkfifo(path)
    (told,) = set_at(begun, path, 3)
    assert not told["verified"] or name.endswith("py")
    assert "no regular file" in begun.client.refused("source", source={"path": str(path)}, sourceReference=0)
    assert begun.client.request("breakpointLocations", source={"path": str(path)}, line=1)["breakpoints"] == []


@pytest.mark.rotated
@pytest.mark.parametrize("name", ["*", "native:*", "native:*$pc", "*main"])
def test_addresses_of_functions(begun, name):
    (told,) = begun.client.request("setFunctionBreakpoints", breakpoints=[{"name": name}])["breakpoints"]
    assert (told["verified"], "names no address" in told["message"]) == (False, True)


def set_one(program, path, **more):
    line = program.native_line("tick") if path == EXTENSION else 1
    asked = [{"line": line, **more}]
    (told,) = program.client.request("setBreakpoints", source={"path": path}, breakpoints=asked)["breakpoints"]
    return told


@pytest.mark.rotated
@pytest.mark.parametrize("hits", ["% 0", "%0", "0", "== 0", "< 1", "<= 0"])
def test_a_hit_condition_that_never_holds(begun, hits):
    for path in (EXTENSION, begun.script):
        told = set_one(begun, path, hitCondition=hits)
        assert (told["verified"], "never holds" in told["message"]) == (False, True)


def test_a_log_message_that_cannot_be_read(begun):
    for path in (EXTENSION, begun.script):
        for text in ("{" * 501, "at {x"):
            told = set_one(begun, path, logMessage=text)
            assert (told["verified"], "a brace that is not closed" in told["message"]) == (False, True)
            assert len(told["message"]) < 200
    told = set_one(begun, begun.script, logMessage="at {x y}")
    assert (told["verified"], "'{x y}' in the log message is not a Python expression" in told["message"]) == (
        False,
        True,
    )

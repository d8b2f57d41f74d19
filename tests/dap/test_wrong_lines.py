"""Lines and addresses that nothing can have are refused where they are set: debuggers would count on from 0."""

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

"""Memory, machine code, modules and jumps through DAP, and the progress of what takes long."""

import base64

import pytest
from debugging import EXTENSION, Debugging

pytestmark = pytest.mark.rotated_tests(turns=5)


INT = 4


def text_of(number):
    return base64.b64encode(number.to_bytes(INT, "little")).decode()


def address_of(program, stood):
    """The instruction at which the thread stands."""
    return program.stack(stood.thread)[0]["instructionPointerReference"]


def jump(program, stood, path, line):
    """Go on at a line, which must be possible."""
    (target,) = program.client.request("gotoTargets", source={"path": path}, line=line)["targets"]
    assert target["line"] == line
    program.client.request("goto", threadId=stood.thread, targetId=target["id"])
    return program.stood()


def disassembled(program, address, count, offset=0):
    found = program.client.request(
        "disassemble", memoryReference=address, instructionCount=count, instructionOffset=offset
    )["instructions"]
    assert len(found) == count
    return found


def standing_in_call(dap):
    """In the first line of ``crossing::call``, which has a value and no more than that yet."""
    program = Debugging(dap.stdio(), "core_crossing.py").launch(native=("call",))
    stood = program.stood()
    assert (stood.function, program.at(stood)) == ("crossing::call", "call")
    return program, stood


def test_gdb_has_read_scripts_of_the_persons_own(dap, tmp_path):
    """One seen from the program's folder, and one that the environment names."""
    (tmp_path / "of_mine.gdb").write_text("set $of_mine = 42\n")
    program = Debugging(dap.stdio(), "core_crossing.py")
    program.launch(native=("call",), cwd=str(tmp_path), gdbScripts=["of_mine.gdb"])
    stood = program.stood()
    assert program.evaluate("$of_mine + 1", stood.frame) == "43"
    program.set_lines(EXTENSION, [])
    assert program.run_out(stood) == 7


def test_memory(dap):
    program, stood = standing_in_call(dap)
    client, value = program.client, program.variables(stood.frame)["value"]
    reference = value["memoryReference"]
    found = client.request("readMemory", memoryReference=reference, count=INT)
    assert found == {"address": reference, "data": text_of(3), "unreadableBytes": 0}
    whole = client.request("readMemory", memoryReference=reference, count=2 * INT, offset=-INT)
    assert base64.b64decode(whole["data"])[INT:] == base64.b64decode(text_of(3))
    assert client.request("writeMemory", memoryReference=reference, data=text_of(9)) == {"bytesWritten": INT}
    assert program.evaluate("value", stood.frame) == "9"
    assert client.request("readMemory", memoryReference="0x10", count=8)["unreadableBytes"] == 8
    refused = {
        "nothing was written": ("writeMemory", {"memoryReference": "0x10", "data": text_of(1)}),
        "is not base64": ("writeMemory", {"memoryReference": reference, "data": "!"}),
        "'zero' is not an address": ("readMemory", {"memoryReference": "zero", "count": 1}),
        "must be 0 to": ("readMemory", {"memoryReference": reference, "count": -1}),
    }
    for why, (command, arguments) in refused.items():
        assert why in client.refused(command, **arguments)
    found = client.request("modules", startModule=0)
    (own,) = [module for module in found["modules"] if module["name"].startswith("crossing.")]
    assert (own["isUserCode"], own["symbolStatus"], own["symbolFilePath"]) == (True, "symbols read", own["path"])
    begin, _, end = own["addressRange"].partition("-")
    assert int(begin, 16) < int(address_of(program, stood), 16) < int(end, 16)
    page = client.request("modules", startModule=1, moduleCount=1)
    assert (page["modules"], page["totalModules"]) == (found["modules"][1:2], len(found["modules"]))
    program.leave()


def test_machine_instructions(dap):
    program, stood = standing_in_call(dap)
    at = address_of(program, stood)
    before, here, then, afterwards = disassembled(program, at, 4, -1)
    assert here["address"] == at
    assert (here["line"], here["location"]["path"]) == (stood.line, EXTENSION)
    assert before["symbol"].startswith("crossing::call+")
    for command, instruction in (("next", then), ("stepIn", afterwards)):
        program.client.request(command, threadId=stood.thread, granularity="instruction")
        stood = program.stood()
        assert (stood.reason, address_of(program, stood)) == ("step", instruction["address"])
    wanted = disassembled(program, address_of(program, stood), 3)[2]["address"]
    answers = program.client.request(
        "setInstructionBreakpoints",
        breakpoints=[{"instructionReference": each} for each in (wanted, "0x10", "here")],
    )["breakpoints"]
    assert [answer["verified"] for answer in answers] == [True, False, False]
    assert "no code at 0x10" in answers[1]["message"]
    assert "'here' is not an address" in answers[2]["message"]
    stood = program.run_on(stood)
    assert (stood.reason, stood.body["hitBreakpointIds"]) == ("breakpoint", [answers[0]["id"]])
    assert address_of(program, stood) == wanted
    program.leave()


def test_a_jump_that_is_refused_leaves_the_stop_as_it_was(dap):
    program = Debugging(dap.stdio(), "core_crossing.py").launch("held")
    stood = program.stood()
    assert "target" in program.client.refused("goto", threadId=stood.thread, targetId=99)
    assert program.at(stood) == "held"
    assert program.evaluate("1 + 1", stood.frame) == "2"
    outside = program.line("local_return")
    targets = program.client.request("gotoTargets", source={"path": program.script}, line=outside)["targets"]
    for target in targets:  # debugpy offers each line, of any function
        program.client.refused("goto", threadId=stood.thread, targetId=target["id"])
    assert program.evaluate("1 + 1", stood.frame) == "2"
    stood = program.over(stood)
    assert (stood.reason, program.at(stood)) == ("step", "released")
    program.leave()


def test_jumps_in_both_languages(dap):
    program = Debugging(dap.stdio(), "core_crossing.py").launch("held", native=("call",))
    stood = program.stood()
    stood = jump(program, stood, program.script, program.line("call"))  # ``a`` and ``b`` are never made
    assert (stood.reason, program.at(stood)) == ("goto", "call")
    assert program.evaluate("locals().get('a')", stood.frame) == "None"  # which Python 3.12 makes of what is unbound
    targets = program.client.request("stepInTargets", frameId=stood.frame)["targets"]
    native = {target["label"]: target["id"] for target in targets}["the first C++ function of yours"]
    program.set_lines(EXTENSION, [])
    program.client.request("stepIn", threadId=stood.thread, targetId=native)
    stood = program.stood()
    assert stood.function == "crossing::call"
    assert program.client.request("stepInTargets", frameId=stood.frame)["targets"] == []
    refused = program.client.refused("gotoTargets", source={"path": EXTENSION}, line=program.native_line("held"))
    assert "has no code at line" in refused
    assert "There is no target 99" in program.client.refused("goto", threadId=stood.thread, targetId=99)
    assert program.at(stood) == "call"
    stood = jump(program, stood, EXTENSION, program.native_line("call_return"))  # the callback is left out
    assert (stood.reason, program.at(stood)) == ("goto", "call_return")
    program.client.request("setExpression", expression="back", value="41", frameId=stood.frame)
    stood = program.out(stood)
    assert (stood.reason, program.evaluate("c", stood.frame)) == ("step", "42")
    program.leave()


def test_lines_that_have_code(dap):
    program = Debugging(dap.stdio(), "core_crossing.py").launch("held")
    stood, line = program.stood(), program.line
    asked = {"source": {"path": program.script}, "line": line("local"), "endLine": line("local_return") + 2}
    found = program.client.request("breakpointLocations", **asked)["breakpoints"]
    assert [each["line"] for each in found] == [line("local"), line("local_return")]
    nowhere = program.client.request("breakpointLocations", source={"path": "/nowhere.py"}, line=1)
    assert nowhere == {"breakpoints": []}
    assert program.client.request("loadedSources") == {"sources": []}
    assert "There is no file" in program.client.refused("source", source={"path": "/nowhere.py"}, sourceReference=0)
    assert stood.function == "main"
    program.leave()


def test_progress_is_told_to_those_who_want_it(dap):
    program = Debugging(dap.stdio(), "core_crossing.py")
    program.initialize(supportsProgressReporting=True)
    program.client.post("launch", program=program.script)
    program.client.event("initialized")
    program.configure(native=("held",))
    program.stood()
    begun = program.client.event("progressStart", lambda body: "attaching gdb" in body["title"])
    assert program.client.event("progressEnd")["progressId"] == begun["progressId"]
    program.leave()

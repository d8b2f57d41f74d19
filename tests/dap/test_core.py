"""A core file as a session: both halves of it can be looked at, and nothing in it runs."""

import base64
import os
import signal
from pathlib import Path
from types import SimpleNamespace

import core_files
import pytest
from adapters import adapters_in
from debugging import EXTENSION, Debugging, line_of, source_line

from kit.paths import search_path
from pyharness.debugger.core.native import IMMOBILE

pytestmark = pytest.mark.rotated_tests(turns=2)

PRODUCT = "Tensor float32 [2, 3] cpu grad_fn=<MulBackward0> [[0.0, 0.5, 1.0], [1.5, 2.0, 2.5]]"


def opened(client, core, **arguments):
    """A client that has opened a core, and the stop."""
    program = Debugging(client, core_files.PROGRAM.name)
    program.initialize()
    client.request("launch", coreFile=str(core), **arguments)
    client.event("initialized")
    program.configure(marks=("crash",), native=("crash",), functions=("main",), filters=("uncaught",))
    return program, program.stood()


@pytest.fixture(scope="module")
def looked(tmp_path_factory, crash):
    """One client for all tests that only look."""
    with adapters_in(tmp_path_factory.mktemp("adapter")) as adapters:
        program, stood = opened(adapters.stdio(), crash)
        threads = program.client.request("threads")["threads"]
        frames = {frame["name"]: frame["id"] for frame in reversed(program.stack(stood.thread))}
        yield SimpleNamespace(program=program, client=program.client, stood=stood, threads=threads, frames=frames)
        program.leave()


def test_it_stands_where_it_died(looked):
    body, stood = looked.stood.body, looked.stood
    assert (stood.reason, stood.function, stood.file) == ("exception", "crossing::crash", EXTENSION)
    assert stood.line == source_line("crash")
    assert body["text"] == "SIGSEGV (Segmentation fault) at 0x0: a null pointer"
    assert body["allThreadsStopped"]
    info = looked.client.request("exceptionInfo", threadId=stood.thread)
    assert (info["exceptionId"], info["description"]) == ("SIGSEGV", body["text"])
    assert not looked.client.events("output")


def test_the_prompt_says_the_same_of_it(pyharness, crash):
    done = pyharness("debug", crash, "-c", "bt")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1] == "   SIGSEGV (Segmentation fault) at 0x0: a null pointer"


def test_its_threads_have_the_names_that_python_knew(looked):
    names = {thread["id"]: thread["name"] for thread in looked.threads}
    assert names[looked.stood.thread] == "MainThread"
    aside = next(lwp for lwp, name in names.items() if name.startswith("aside"))
    top = {frame["name"]: frame for frame in looked.program.stack(aside)}
    assert looked.program.variables(top["aside"]["id"])["here"]["value"] == "[1, 'two']"
    assert top["aside"]["line"] == looked.program.line("aside")


def test_the_stack_is_the_merged_one(looked):
    frames = [frame for frame in looked.program.stack(looked.stood.thread) if frame.get("source")]
    names = [frame["name"] for frame in frames]
    order = ["crossing::crash", "native", "forward [fx native]", "main", "<module>"]
    assert [name for name in names if name in order] == order
    places = {frame["name"]: (frame["source"]["path"], frame["line"]) for frame in frames}
    script = looked.program.script
    assert places["native"] == (script, line_of("crash", script))
    assert places["main"] == (script, line_of("main", script))
    generated, line = places["forward [fx native]"]
    assert generated.endswith(".py")
    assert "__main___native(mul, 2.5)" in Path(generated).read_text().splitlines()[line - 1]


def test_the_locals_of_python_frames_are_read_from_memory(looked):
    found = looked.program.variables(looked.frames["native"])
    assert {name: each["value"] for name, each in found.items()} == {
        "x": PRODUCT,
        "scale": "2.5",
        "sizes": "{'rows': 2, 'columns': 3}",
    }
    parts = {part["name"]: part["value"] for part in looked.program.children(found["x"])}
    assert (parts["shape"], parts["requires_grad"]) == ("[2, 3]", "True (not a leaf)")
    assert [part["value"] for part in looked.program.children(found["sizes"])] == ["2", "3"]


def test_a_generated_frame_has_its_node_and_its_module(looked):
    frame = looked.frames["forward [fx native]"]
    node = {each["name"]: each for each in looked.program.children(looked.program.scopes(frame)["FX"])}
    assert node["node"]["value"] == "native"
    link = looked.client.request("locations", locationReference=node["origin"]["valueLocationReference"])
    assert (link["source"]["path"], link["line"]) == (looked.program.script, looked.program.line("forward"))
    found = looked.program.variables(frame)
    module = {each["name"]: each["value"] for each in looked.program.children(found["self"])}
    assert module["weight"] == "Tensor float32 [2, 3] cpu requires_grad [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]"
    assert found["mul"]["value"] == PRODUCT


def test_a_native_frame_has_its_variables_and_registers(looked):
    frame = looked.stood.frame
    assert looked.program.variables(frame)["nowhere"]["value"] == "0x0"
    registers = {each["name"] for each in looked.program.children(looked.program.scopes(frame)["Registers"])}
    assert {"rip", "rax"} <= registers


@pytest.mark.parametrize(
    ("frame", "expression", "value"),
    [
        ("native", "x.shape", "[2, 3]"),
        ("native", "x[1, 2]", "2.5"),
        ("native", "sizes['rows']", "2"),
        ("native", "LIMIT", "7"),
        ("forward [fx native]", "self.weight[0, 1]", "1.0"),
        ("crossing::crash", "nowhere == 0", "true"),
        ("crossing::crash", "py: x[1, 2]", "2.5"),
    ],
)
def test_what_memory_has_can_be_evaluated(looked, frame, expression, value):
    assert looked.program.evaluate(expression, looked.frames[frame]) == value


@pytest.mark.parametrize(
    ("frame", "expression", "why"),
    [
        ("native", "x.sum()", "nothing runs in a core file"),
        ("native", "nothing", "no variable 'nothing'"),
        ("native", "native: $pc", "this frame is Python code"),
        ("crossing::crash", "py: nothing", "no variable 'nothing'"),
    ],
)
def test_what_cannot_be_evaluated_says_why(looked, frame, expression, why):
    assert why in looked.client.refused("evaluate", expression=expression, frameId=looked.frames[frame])


def test_the_console_shows_what_a_line_of_a_view_cuts(looked):
    frame, text = looked.frames["native"], core_files.PROGRAM.read_text().split('"""')[1]
    assert looked.program.evaluate("__doc__", frame) == f"{text[:60]!r}…"
    for context in ("repl", "clipboard"):
        assert looked.program.evaluate("__doc__", frame, context) == repr(text)


@pytest.mark.parametrize(
    ("frame", "text", "label"),
    [("native", "x.sh", "shape"), ("native", "siz", "sizes"), ("crossing::crash", "now", "nowhere")],
)
def test_names_are_completed(looked, frame, text, label):
    asked = {"text": text, "column": len(text) + 1, "frameId": looked.frames[frame]}
    assert label in {target["label"] for target in looked.client.request("completions", **asked)["targets"]}


def test_machine_code_memory_and_modules_are_there(looked):
    top = looked.program.stack(looked.stood.thread)[0]
    address = top["instructionPointerReference"]
    code = looked.client.request("disassemble", memoryReference=address, instructionCount=1)["instructions"][0]
    assert (code["address"], code["line"], code["location"]["path"]) == (address, source_line("crash"), EXTENSION)
    expected = bytes.fromhex(code["instructionBytes"])
    read = looked.client.request("readMemory", memoryReference=address, count=len(expected))
    assert base64.b64decode(read["data"]) == expected
    modules = looked.client.request("modules", startModule=0)["modules"]
    own = {module["name"].partition(".")[0]: module for module in modules if module["isUserCode"]}
    assert own["crossing"]["symbolStatus"] == "symbols read"
    assert any(module["name"].startswith("libtorch_cpu") for module in modules)


def test_nothing_in_it_stops(looked):
    assert len(looked.program.breakpoints) == 3
    assert [(each["verified"], each["message"]) for each in looked.program.breakpoints] == [(False, IMMOBILE)] * 3


NOTHING = {
    **{command: {"threadId": 1} for command in ("continue", "next", "stepIn", "stepOut", "pause")},
    "goto": {"threadId": 1, "targetId": 1},
    "gotoTargets": {"source": {"path": "x.cpp"}, "line": 1},
    "setVariable": {"variablesReference": 1, "name": "x", "value": "1"},
    "setExpression": {"expression": "x", "value": "1"},
    "writeMemory": {"memoryReference": "0x1000", "data": "AA=="},
    "restart": {},
}


@pytest.mark.parametrize("command", NOTHING)
def test_nothing_in_it_runs_or_changes(looked, command):
    assert looked.client.refused(command, **NOTHING[command]) == IMMOBILE


def test_nothing_in_it_is_watched(looked):
    info = looked.client.request("dataBreakpointInfo", name="x", frameId=looked.frames["native"])
    assert (info["dataId"], info["description"]) == (None, IMMOBILE)


def test_a_program_that_lived_on_stands_where_it_was(dap, tmp_path, crossing):
    core = core_files.of_the_living(tmp_path, search_path(crossing))
    try:
        program, stood = opened(dap.stdio(), core)
        assert stood.reason == "pause"
        frames = {frame["name"]: frame for frame in program.stack(stood.thread)}
        assert frames["crossing::wait_holding"]["line"] == source_line("wait_holding")
        assert program.variables(frames["native"]["id"])["x"]["value"] == PRODUCT
        program.client.request("terminate")
        program.client.event("terminated")
        program.leave()
    finally:
        core.unlink()


def test_one_is_found_in_the_working_folder_whatever_its_name(dap, crash, tmp_path):
    (tmp_path / "it's a core").hardlink_to(crash)  # a symbolic link is resolved
    program, stood = opened(dap.stdio(), "it's a core", cwd=str(tmp_path))
    assert stood.function == "crossing::crash"
    program.leave()


def test_a_library_that_is_gone_is_said(dap, crash, library):
    away = library.with_name("away")
    library.rename(away)
    try:
        program, stood = opened(dap.stdio(), crash)
        said = program.client.event("output")["output"]
    finally:
        away.rename(library)
    assert "crossing" in said
    assert "is missing: its frames have no lines." in said
    assert stood.reason == "exception"
    assert "main" in [frame["name"] for frame in program.stack(stood.thread)]
    program.leave()


def test_a_gdb_that_dies_ends_the_session(dap, crash):
    program, stood = opened(dap.stdio(), crash)
    gdb = next(pid for pid, line in dap.family().items() if "gdb" in line.split()[0])
    os.kill(gdb, signal.SIGKILL)
    said = program.client.event("output")["output"]
    assert "gdb" in said
    assert "Open the core file again." in said
    program.client.event("terminated")
    assert stood.reason == "exception"
    program.leave()


def test_one_after_another_in_the_same_session(dap, crash, tmp_path):
    client = dap.stdio()
    program = Debugging(client, core_files.PROGRAM.name)
    program.initialize()
    assert "No such file" in client.refused("launch", coreFile=str(tmp_path / "core"))
    frames = []
    for _ in range(2):
        client.request("launch", coreFile=str(crash))
        client.event("initialized")
        program.configure()
        stood = program.stood()
        assert stood.function == "crossing::crash"
        for frame in frames:  # it is another core's, though the thread has the same number
            assert "There is no frame" in client.refused("scopes", frameId=frame)
        frames.append(stood.frame)
        client.request("terminate")
        client.event("terminated")
    program.leave()

"""A client that has the program's folders under other names: breakpoints go in, and frames come out, translated."""

import json
from pathlib import Path

import pytest
from debugging import Debugging

from kit.builds import tensor_kernel
from kit.debugged_program import line_of
from kit.paths import PROGRAMS
from pyharness.dap.arguments import Arguments
from pyharness.dap.beginning.path_mappings import PathMappings, mappings_of
from pyharness.model.errors import UsageError

pytestmark = pytest.mark.rotated_tests(turns=2)

HERE = PathMappings([("/home/me/ops", "/work/ops"), ("/home/me/ops/csrc", "/build/csrc"), ("C:\\My Ops", "/other")])
PROGRAM = "/client/programs/dap_model.py"
NATIVE = "/client/programs/tensor_kernel.cpp"
MAPPINGS = [{"localRoot": "/client/programs/", "remoteRoot": str(PROGRAMS)}]


@pytest.mark.parametrize(
    ("local", "remote"),
    [
        ("/home/me/ops/train.py", "/work/ops/train.py"),
        ("/home/me/ops", "/work/ops"),
        ("/home/me/ops/csrc/a.cpp", "/build/csrc/a.cpp"),
        ("/home/me/ops2/a.cpp", "/home/me/ops2/a.cpp"),
        ("C:\\My Ops\\sub\\a.py", "/other/sub/a.py"),
    ],
)
def test_a_path_goes_there_and_back(local, remote):
    assert HERE.to_program(local) == remote
    assert HERE.to_client(remote) == local


def test_windows_does_not_tell_its_letters_apart():
    assert HERE.to_program("c:/my ops/a.py") == "/other/a.py"
    assert HERE.to_program("my ops/a.py") == "my ops/a.py"


def test_every_path_of_a_message_is_translated_and_nothing_else():
    frames = {"body": {"stackFrames": [{"name": "/work/ops/x", "source": {"path": "/work/ops/x.py"}}, {"id": 2}]}}
    source = {"path": "/home/me/ops/x.py"}
    expected = {"body": {"stackFrames": [{"name": "/work/ops/x", "source": source}, {"id": 2}]}}
    assert HERE.outgoing(frames) == expected
    assert HERE.incoming({"source": source, "lines": [1]}) == {"source": {"path": "/work/ops/x.py"}, "lines": [1]}


def test_without_mappings_a_message_is_the_same_object():
    message = {"source": {"path": __file__}}
    assert PathMappings().outgoing(message) is message
    assert PathMappings().incoming(message) is message


def test_a_file_that_the_client_has_not_is_asked_for_by_number():
    told = HERE.outgoing({"source": {"path": __file__}})["source"]
    assert HERE.file_of(told["sourceReference"]) == told["path"] == __file__
    assert HERE.outgoing([{"path": __file__}]) == [told]
    assert "sourceReference" not in HERE.outgoing({"path": "/work/ops/gone.py"})
    assert "sourceReference" not in HERE.outgoing({"path": "/nowhere/at/all.py"})


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ([{"localRoot": "ops", "remoteRoot": "/work"}], "'ops' is not an absolute path"),
        ([{"localRoot": "/ops", "remoteRoot": "."}], "'.' is not an absolute path"),
        ([{"localRoot": "/ops"}], "'remoteRoot' is missing"),
        ({"/ops": "/work"}, "must be an array"),
        (["/ops:/work"], "must be an object"),
    ],
)
def test_what_is_no_mapping_is_refused(wrong, said):
    with pytest.raises(UsageError, match=said):
        mappings_of(Arguments("launch", {"pathMappings": wrong}))


def test_a_session_in_the_paths_of_the_client(dap):
    program = Debugging(dap.stdio(), PROGRAM)
    program.initialize()
    launched = program.client.post("launch", program=PROGRAM, args=[str(tensor_kernel())], pathMappings=MAPPINGS)
    program.client.event("initialized")
    marked = line_of("wait", PROGRAMS / "tensor_kernel.cpp")
    program.set_lines(NATIVE, [marked])
    program.configure(functions=["fx:first"])
    assert program.client.response(launched)["success"]

    stood = program.stood()
    assert stood.function == "forward [fx mul of first]"
    frames = program.stack(stood.thread)
    generated = frames[0]["source"]
    assert PROGRAM in {frame["source"]["path"] for frame in frames if "source" in frame}
    assert str(PROGRAMS) not in json.dumps([frame.get("source") for frame in frames])
    text = program.client.request("source", source=generated, sourceReference=generated["sourceReference"])
    assert text["content"] == Path(generated["path"]).read_text()
    link = program.children(program.scopes(stood.frame)["FX"])
    assert {each["value"] for each in link} >= {"mul", "first"}

    stood = program.run_on(stood)
    assert (stood.file, stood.line) == (NATIVE, marked)
    program.leave()

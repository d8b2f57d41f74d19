"""Stepping through compiled code, from node to kernel, of an extension that is not ours: one run, places set before."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from kit import builds
from kit.command import PYHARNESS
from kit.marks import line_of
from kit.names import qualified
from kit.paths import ROOT, search_path

pytestmark = pytest.mark.rotated_tests(turns=6)


PROGRAM = ROOT / "tests" / "programs" / "compiled_training.py"
TRANSFORMER = PROGRAM.with_name("compiled_transformer.py")


@pytest.fixture(scope="session")
def kernel():
    return str(builds.op_kernel())


def step(home, *words, program=PROGRAM):
    command = [*PYHARNESS, "step", str(program), "--json", *words]
    env = {**os.environ, "PYHARNESS_HOME": str(home), "PYTHONPATH": search_path()}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=150, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)["stops"]


def where(stop):
    return stop["language"], stop["function"].rpartition("::")[2], (stop["fx"] or {}).get("node")


def file_of(stop):
    return Path(stop["file"]).name.rpartition("_")[0]


def test_from_nodes_of_the_forward_and_the_backward_graph_into_a_foreign_kernel_and_back(home, kernel):
    words = ["--at", "fx:first", "--into-native", "--stack", "--out", "--at", "fx:weighted_1"]
    stops = step(home, *words, "--into-native", "--stack", "--out", "--", kernel)
    assert [where(stop) for stop in stops] == [
        ("python", "forward", "weighted"),
        ("native", "weighted", None),
        ("python", "forward", "tanh"),
        ("python", "forward", "weighted_1"),
        ("native", "weighted", None),
        ("python", "forward", "t_1"),
    ]
    forward, into, out, backward, inside, after = stops
    assert (file_of(forward), file_of(out)) == ("Net_forward_0_0_forward", "Net_forward_0_0_forward")
    assert forward["fx"] == {"node": "weighted", "module": "first", "origin": f"{PROGRAM}:{line_of('walk', PROGRAM)}"}
    assert Path(into["file"]).name == "op_kernel.cpp"
    # The last part of the function runs backward first; its gradient is a Python function of the user's.
    assert (file_of(backward), file_of(after)) == (f"Net_forward_{line_of('break', PROGRAM)}_1_0_backward",) * 2
    assert backward["fx"] == {
        "node": "weighted_1",
        "module": "second",
        "origin": f"{PROGRAM}:{line_of('gradient', PROGRAM)}",
    }
    frames = [(frame["function"], (frame["fx"] or {}).get("node")) for frame in inside["stack"]]
    assert ("forward", "weighted_1") in frames
    assert any(name.endswith("Engine::execute") for name, _ in frames)
    shown = [frame["function"] for frame in inside["stack"] if not frame["plumbing"]]
    assert not [name for name in shown if "run_lowered" in name]


def test_the_compiled_transformer(home):
    """A whole model in two graphs, and kernels behind C++ autograd Functions."""
    words = ["--at", "fx:swiglu", "--into-native", "--at", "fx:swiglu_backward", "--into-native", "--stack"]
    forward, into, backward, inside = step(home, *words, program=TRANSFORMER)
    name = qualified("Transformer.forward").replace(".", "_")
    assert where(forward) == ("python", "forward", "swiglu")
    assert (forward["fx"]["module"], file_of(forward)) == ("blocks.0.mlp", f"{name}_0_0_forward")
    assert (where(into), Path(into["file"]).name) == (("native", "swiglu_autograd", None), "swiglu.cpp")
    assert where(backward) == ("python", "forward", "swiglu_backward")
    assert (backward["fx"]["module"], file_of(backward)) == ("blocks.2.mlp", f"{name}_0_0_backward")
    assert backward["fx"]["origin"] == forward["fx"]["origin"], "the same line of the model, in another block"
    assert where(inside) == ("native", "swiglu_backward_autograd", None)
    names = [(frame["function"], (frame["fx"] or {}).get("node")) for frame in inside["stack"]]
    assert ("forward", "swiglu_backward") in names
    assert any(name.endswith("Engine::execute") for name, _ in names)

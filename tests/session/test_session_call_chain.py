"""The session of the call chain: from torch.autograd.grad into a C++ op's backward, as one stack, on a stock torch."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from kit.command import PYHARNESS
from kit.paths import ROOT
from pyharness.model.plumbing import qualified_name

SESSION = "examples/sessions/call_chain.toml"
CHAIN = [
    "pyharness::ops::RmsNorm::backward",
    "torch::autograd::CppNode_apply_functional",
    "torch::autograd::CppNode::apply",
    "torch::autograd::Node::operator()",
    "torch::autograd::Engine::evaluate_function",
    "torch::autograd::Engine::thread_main",
    "torch::autograd::Engine::execute_with_graph_task",
    "torch::autograd::python::PythonEngine::execute_with_graph_task",
    "torch::autograd::Engine::execute",
    "torch::autograd::python::PythonEngine::execute",
    "THPEngine_run_backward",
]


@pytest.mark.rotated_tests(turns=5, number=1)
def test_each_frame_from_the_backward_to_the_call_of_grad_is_there_and_named(tmp_path):
    first, after, second, _ = played(tmp_path)
    assert [qualified_name(frame["function"]) for frame in first["stack"]][: len(CHAIN)] == CHAIN
    python = [frame for frame in first["stack"] if frame["language"] == "python"]
    assert [frame["function"] for frame in python[:4]] == ["_engine_run_backward", "grad", "penalty", "train"]
    between = first["stack"][len(CHAIN) : first["stack"].index(python[0])]
    interpreter = ("libpython", "python")  # Debian's is linked statically
    assert all(frame["plumbing"] and Path(frame["library"]).name.startswith(interpreter) for frame in between)
    assert after["function"] == "penalty"
    node, node_of_node = the_node(first), the_node(second)
    assert node["name"] == "torch::autograd::CppNode<pyharness::ops::RmsNorm>"
    assert node_of_node["name"] == "torch::autograd::CppNode<pyharness::ops::RmsNormBackward>"
    assert node_of_node["sequence_number"] > node["sequence_number"]


def played(state):
    """The stops, each as the session expects it."""
    command = [*PYHARNESS, "session", "run", SESSION, "--json"]
    environment = os.environ | {"PYHARNESS_HOME": str(state)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    transcript = json.loads(done.stdout)
    assert [each["holds"] for each in transcript["expectations"]] == [True] * 4
    return transcript["stops"]


def the_node(stop):
    (frame,) = (frame for frame in stop["stack"] if frame["autograd"])
    return frame["autograd"]

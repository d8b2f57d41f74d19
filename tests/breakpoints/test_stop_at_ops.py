"""``pyharness step`` at ops that eager Python calls and at autograd nodes: real gdb, an extension that is not ours."""

import json
import os
import subprocess
from functools import partial

import pytest

from kit import needs
from kit.command import PYHARNESS
from kit.marks import line_of
from kit.paths import PROGRAMS, ROOT

pytestmark = [needs.a_plain_build, pytest.mark.rotated_tests(turns=5)]
EAGER = PROGRAMS / "op_eager.py"
marked = partial(line_of, file=EAGER)
KERNEL = PROGRAMS / "op_kernel.cpp"


def shown(stop):
    return [frame for frame in stop["stack"] if not frame["plumbing"]]


WALK = [
    ("--at", "op:walk::weighted", "--print", "in0", "--stack", "--into", "--print", "scale", "--stack", "--out"),
    ("--at", "op:aten::mul when max(out) > 20", "--print", "out", "--over"),
    ("--at", "node:MulBackward0", "--print", "in0", "--stack", "--over"),
]


@pytest.fixture(scope="module")
def stops(extension, tmp_path_factory):
    """Of one walk through the program, which takes seconds to start."""
    words = [word for part in WALK for word in part]
    command = [*PYHARNESS, "step", EAGER, *words, "--json", "--", extension]
    environment = {**os.environ, "PYHARNESS_HOME": str(tmp_path_factory.mktemp("state"))}
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)["stops"]


def test_at_an_op_of_eager_python_into_its_kernel_and_out(stops):
    op, kernel, after = stops[:3]
    assert (op["reason"], op["language"], op["function"]) == ("breakpoint", "native", "walk::weighted")
    assert f"{EAGER}:{marked('weighted')}" in op["note"]
    assert "2, 4" in op["printed"]["in0"]
    assert [frame["function"] for frame in shown(op)][:2] == ["walk::weighted", "Scale.forward"]
    assert shown(op)[1]["line"] == marked("weighted")
    assert (kernel["reason"], kernel["language"]) == ("step", "native")
    assert (kernel["function"], kernel["file"]) == ("walk::weighted", str(KERNEL))
    assert kernel["printed"]["scale"] == "3"
    assert [frame["language"] for frame in shown(kernel)][:2] == ["native", "python"]
    assert (after["language"], after["line"]) == ("python", marked("mul"))


def test_a_condition_on_the_tensors_and_the_result(stops):
    op, after = stops[3:5]
    assert op["function"] == "aten::mul"
    assert "→ float32[2, 4]" in op["note"]
    assert "25." in op["printed"]["out"]  # the second block's: the first one's are 2
    assert after["language"] == "python"


def test_at_a_node_of_the_backward(stops):
    node, after = stops[5:]
    assert (node["language"], node["function"]) == ("native", "MulBackward0")
    assert "torch::autograd::Engine::execute" in [frame["function"] for frame in node["stack"]]
    assert any(frame["file"] == str(EAGER) and frame["line"] == marked("backward") for frame in node["stack"])
    assert (after["language"], after["line"]) == ("python", marked("backward") + 1)


PLACES = """import torch
from torch import fx


class Net(torch.nn.Module):
    def forward(self, x):
        return torch.ops.aten.mul.Tensor(x, x) + 1


net = fx.symbolic_trace(Net())
net(torch.ones(2))
y = torch.ones(2) * 3


@torch.jit.script
def log(x):
    return torch.log(x)


@torch.jit.script
def forked(x):
    return torch.jit.wait(torch.jit.fork(log, x))


print(forked(y).shape)
"""


def test_a_generated_line_stops_once_and_threads_without_python_stop_too(pyharness, tmp_path):
    program = tmp_path / "places.py"
    program.write_text(PLACES)
    words = ("--at", "op:aten::mul", "--at", "op:aten::mul", "--at", "op:aten::log", "--print", "in0", "--stack")
    result = pyharness("step", program, *words, "--json")
    assert result.returncode == 0, result.stdout + result.stderr
    generated, eager, without_python = json.loads(result.stdout)["stops"]
    assert (generated["language"], generated["fx"]["node"]) == ("python", "mul_tensor")
    assert eager["function"] == "aten::mul"
    assert f"{program}:12" in eager["note"]
    assert without_python["note"] == "aten::log(float32[2]), hit 1"
    assert "[3.0, 3.0]" in without_python["printed"]["in0"]
    assert {frame["language"] for frame in without_python["stack"]} == {"native"}


def test_what_is_never_reached_says_why(pyharness, extension):
    result = pyharness("step", EAGER, "--at", "op:walk::weigthed", "--", extension)
    assert result.returncode == 1
    assert "There is no op 'walk::weigthed'." in result.stderr
    assert "Did you mean walk::weighted?" in result.stderr

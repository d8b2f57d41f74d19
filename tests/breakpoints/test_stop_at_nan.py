"""``find_nan(action="stop")``: the program stops in the debugger at the first bad op or node, with its tensors."""

import json
from functools import partial

import pytest

from kit import gdb as plain_gdb
from kit import inductor, needs
from kit.marks import line_of
from kit.names import qualified
from kit.paths import PROGRAMS

pytestmark = [needs.a_plain_build, pytest.mark.rotated_tests(turns=9)]
SURVEYED = PROGRAMS / "surveyed.py"
marked = partial(line_of, file=SURVEYED)
NODE = "torch::autograd::CppNode<survey::Distance>"
FORWARD = """import torch
import pyharness
from torch import nn


class Share(nn.Module):
    def forward(self, x):
        total = x.sum(-1, keepdim=True)
        return x / total


net = nn.Sequential(nn.ReLU(), Share(), nn.Linear(4, 1))
with pyharness.find_nan(action="stop"):
    net(torch.tensor([[1.0, -1.0, 2.0, 0.0], [-1.0, -2.0, -3.0, -4.0]]))
    print("went on", flush=True)
"""


def shown(stop):
    return [frame for frame in stop["stack"] if not frame["plumbing"]]


def test_at_a_node_of_an_extension_that_is_not_ours(pyharness, survey):
    words = ("--continue", "--print", "in0", "--print", "out1", "--stack", "--out", "--print", "points")
    result = pyharness("step", SURVEYED, *words, "--json", "--", survey, "stop")
    assert result.returncode == 0, result.stdout + result.stderr
    node, after = json.loads(result.stdout)["stops"]
    assert (node["reason"], node["language"], node["function"]) == ("breakpoint", "native", NODE)
    assert f"{NODE}(float32[4]) → float32[4, 2], float32[2] made the first NaN" in node["note"]
    assert f"(forward at {SURVEYED}:{marked('direct')}, module anchor)" in node["note"]
    assert node["note"].endswith(f"called from {SURVEYED}:{marked('backward')}")
    assert "float32 [4] cpu" in node["printed"]["in0"]
    assert "nan" not in node["printed"]["in0"]
    assert "[nan, nan]" in node["printed"]["out1"]
    assert [frame["autograd"]["name"] for frame in node["stack"] if frame["autograd"]] == [NODE]
    names = [frame["function"] for frame in shown(node)]
    assert names[0] == NODE
    assert (
        names.index("torch::autograd::Engine::execute")
        < names.index(qualified("Tensor.backward"))
        < names.index("step")
    )
    assert [frame["line"] for frame in shown(node) if frame["function"] == "step"] == [marked("backward")]
    assert (after["language"], after["function"], after["line"]) == ("python", "step", marked("after"))
    assert "The first NaN was made by" in result.stderr
    assert "done" in result.stderr


COMPILED = """import torch, torch._dynamo
import pyharness


def root(x):
    return (x - 2).sqrt() * 2


with torch.no_grad(), pyharness.find_nan(action="stop"):
    torch.compile(root)(torch.ones(8, 8))
    print("went on", flush=True)
"""


def test_at_a_kernel_that_torch_compiled(pyharness, tmp_path, monkeypatch):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", inductor.cache(tmp_path / "torch"))
    program = tmp_path / "compiled.py"
    program.write_text(COMPILED)
    result = pyharness("step", program, "--continue", "--stack", "--out", "--json")
    assert result.returncode == 0, result.stdout + result.stderr
    kernel, after = json.loads(result.stdout)["stops"]
    assert kernel["function"].startswith("cpp_fused_")
    assert "made the first NaN" in kernel["note"]
    assert [frame["function"] for frame in shown(kernel)][1:] == ["Runner.call", "root", "<module>"]
    assert after["language"] == "python"
    assert "The first NaN was made by node sqrt in the kernel" in result.stderr


def test_at_an_op_of_the_forward(pyharness, tmp_path):
    program = tmp_path / "shares.py"
    program.write_text(FORWARD)
    words = (
        "--continue",
        "--print",
        "in0",
        "--print",
        "in1",
        "--print",
        "out",
        "--print",
        "total",
        "--stack",
        "--over",
    )
    result = pyharness("step", program, *words, "--json")
    assert result.returncode == 0, result.stdout + result.stderr
    op, after = json.loads(result.stdout)["stops"]
    assert (op["language"], op["function"]) == ("native", "aten::div")
    assert "aten::div.Tensor(float32[2, 4], float32[2, 1]) → float32[2, 4] made the first NaN, module 1" in op["note"]
    assert "[0.0]" in op["printed"]["in1"]
    assert "[nan, nan, nan, nan]" in op["printed"]["out"]
    assert op["printed"]["total"] == "tensor([[3.],\n        [0.]])"
    frames = shown(op)
    assert [frame["function"] for frame in frames][:2] == ["aten::div", "Share.forward"]
    assert (frames[1]["file"], frames[1]["line"]) == (str(program), 9)
    assert after["language"] == "python"
    assert "went on" in result.stderr


def test_in_a_gdb_that_is_alone(survey, tmp_path):
    commands = ("ph-run", "ph-bt", "ph-tensor out0", "continue")
    gdb = plain_gdb.Gdb(tmp_path, *commands, program=SURVEYED, arguments=f"{survey} stop")
    gdb.has(
        f"step () at {SURVEYED}:{marked('backward')}",
        f"Note: {NODE}(float32[4])",
        "made the first NaN",
        f"native  {NODE}",
        "native  torch::autograd::Engine::execute",
        "python  step",
        "Tensor float32 [4, 2] cpu",
        "[nan, nan]",
        "done",
    )

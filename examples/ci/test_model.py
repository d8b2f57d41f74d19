"""Tests of a model in both languages, for docs/guides/ci.md: ``python -m pytest examples/ci/test_model.py``."""

# ruff: noqa: S101  (assertions are how a test speaks)

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, fx, nn

import pyharness
from pyharness import ops
from pyharness.fx import trace, transform, verify

TRAIN = Path(__file__).parents[1] / "transformer.py"


class Net(nn.Module):
    """A layer and an op in C++."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.weight = nn.Parameter(torch.ones(8))

    def forward(self, x: Tensor) -> Tensor:
        """(rows, 8), the same shape out."""
        return torch.relu(ops.rms_norm(self.linear(x), self.weight))


@transform("relu_as_clamp")
def relu_as_clamp(module: fx.GraphModule) -> None:
    """The same under another name."""
    for node in module.graph.find_nodes(op="call_function", target=torch.relu):
        node.target, node.kwargs = torch.clamp, {"min": 0.0}


def test_a_step_makes_no_nan() -> None:
    """Raises where the first one is made, with its line, module and node."""
    with pyharness.find_nan():
        Net()(torch.randn(4, 8)).sum().backward()


def test_the_pass_keeps_what_the_model_computes() -> None:
    """The message names the node that differs first."""
    model = trace(Net())
    verdict = verify(model, relu_as_clamp(model), torch.randn(4, 8))
    assert verdict, verdict


def test_the_kernel_gets_what_it_is_made_for() -> None:
    """A debugger looks: the kernel is called, and with the whole batch."""
    with pyharness.debug(str(TRAIN), "--steps", "1") as program:
        stop = program.run_to("native:rms_norm_cpu")
        assert stop.frame.language == "native"
        assert "float32 [16, 24, 64]" in program.evaluate("input")

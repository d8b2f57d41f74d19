"""What the sentences around a page's blocks of Python give for granted: a model, inputs, passes, modules."""

from __future__ import annotations

import copy
import operator
from pathlib import Path
from typing import Any

import torch
from torch import fx, nn

import pyharness
import pyharness.fx
import pyharness.inspect


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.weight(x) + x


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder, self.decoder, self.head = Attention(), Attention(), nn.Sequential(nn.Linear(4, 4), nn.ReLU())

    def forward(self, x: torch.Tensor, y: torch.Tensor | float = 0.0, scale: float = 1.0) -> torch.Tensor:
        seen = self.decoder(self.decoder(torch.tanh(self.encoder(x))))
        return self.head(seen * scale + y)


def keep(module: fx.GraphModule) -> fx.GraphModule:
    return module


def swap(module: fx.GraphModule) -> fx.GraphModule:
    changed = copy.deepcopy(module)
    for node in changed.graph.find_nodes(op="call_function", target=operator.mul):
        node.target = operator.add
    changed.recompile()
    return changed


def flip(x: torch.Tensor) -> torch.Tensor:
    return x.flip(0)


def given() -> dict[str, Any]:
    """The names, anew for each page."""
    torch.manual_seed(0)
    model = Net()
    inputs = torch.randn(2, 4, requires_grad=True)
    return {
        "__name__": "__main__",
        "torch": torch,
        "nn": nn,
        "fx": fx,
        "Path": Path,
        "pyharness": pyharness,
        "model": model,
        "x": torch.randn(2, 4),
        "y": torch.randn(2, 4),
        "inputs": inputs,
        "outputs": inputs.sin(),
        "v": torch.ones(2, 4),
        "gm": fx.symbolic_trace(model),
        "Attention": Attention,
        "fuse": keep,
        "fold": keep,
        "quantize": swap,
        "transformed": keep(fx.symbolic_trace(model)),
        "my_pass": swap,
        "cost": lambda _node: {"cost": 1},
        "swap": flip,
        "inverse": pyharness.fx.inverse,
        "trace": pyharness.fx.trace,
    }

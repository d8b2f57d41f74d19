"""Makes graphs in every way: traced, changed and recompiled, transformed, exported, compiled; prints its arguments."""

import sys

import torch
from torch import fx, nn


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.full((3,), 2.0))

    def forward(self, x):
        return torch.relu(x) * self.weight  # @scale


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.scales = nn.ModuleList([Scale(), Scale()])

    def forward(self, x):  # @net
        y = self.first(x)  # @first
        for scale in self.scales:
            y = scale(y)
        return {"y": y, "sum": y.sum()}  # @sum


print("arguments", *sys.argv[1:])
module = fx.symbolic_trace(Net())
module(torch.ones(2, 3))
for node in module.graph.nodes:
    if node.name == "relu_1":
        node.target = torch.tanh
    if node.op == "call_function" and node.name == "mul_1":
        node.args = node.args[::-1]
module.recompile()
module(torch.ones(2, 3).double().float())
again = fx.Transformer(module).transform()
if "--compile" in sys.argv:
    program = torch.export.export(Net(), (torch.ones(2, 3),))
    compiled = torch.compile(Net(), backend="aot_eager")
    compiled(torch.ones(2, 3))["sum"].backward()
    torch.compile(nn.Linear(3, 1), backend="pyharness")(torch.ones(2, 3)).sum().backward()
if "--fail" in sys.argv:
    raise ValueError("mine")

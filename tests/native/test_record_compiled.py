"""What runs in compiled code belongs to the module that its line came from, and what compiles it to nobody's."""

import torch
from torch import nn

import pyharness


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(nn.Linear(3, 4), nn.Tanh())
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.blocks(x))


def modules_of(trace, name):
    return [event.module for event in trace.ops if event.name == name]


def test_ops_of_compiled_code_have_the_path_of_their_module():
    torch._dynamo.reset()
    compiled, x = torch.compile(Net(), backend="pyharness"), torch.ones(2, 3)
    with pyharness.record() as first:
        compiled(x)
    with pyharness.record() as second:
        compiled(x)
    assert modules_of(second.trace, "aten::tanh") == ["blocks.1"]
    assert modules_of(second.trace, "aten::addmm") == ["blocks.0", "head"]
    while_compiling = modules_of(first.trace, "aten::addmm")
    assert list(dict.fromkeys(while_compiling)) == ["(compiling)", "blocks.0", "head"]

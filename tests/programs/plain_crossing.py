"""Python, generated code and our C++ ops in one program, forward and backward."""

import torch
from torch import nn

from pyharness import ops


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))

    def forward(self, x):
        return ops.rms_norm(x, self.weight)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = Norm()

    def forward(self, x):
        return torch.tanh(self.norm(x) + 1)


model = torch.fx.symbolic_trace(Model())
x = torch.arange(8.0).reshape(2, 4)  # @x
out = model(x)  # @forward
out.sum().backward()  # @backward
print("done")  # @done

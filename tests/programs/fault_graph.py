"""A graph of two modules, run once."""

import torch
from torch import nn


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x):
        return self.linear(x) + 1


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x, first=None):
        return torch.relu(self.inner(x))


torch.fx.symbolic_trace(Outer(), concrete_args={"first": None})(torch.ones(1, 2))

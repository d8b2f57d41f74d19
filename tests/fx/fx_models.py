"""Models whose lines are marked, and where the debuggee programs lie."""

import torch
from torch import nn


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))

    def forward(self, x):
        return x / x.norm() * self.weight  # @norm


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = Norm()
        self.linear = nn.Linear(4, 4)

    def forward(self, x, scale=2.0):
        y = self.norm(x)
        return torch.relu(self.linear(y)) + scale  # @relu


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])

    def forward(self, x, *, bias=None):  # @def
        del bias
        for block in self.blocks:
            x = block(x)
        out = x.sum(-1)  # @sum
        return {"out": out, "parts": (x, out)}

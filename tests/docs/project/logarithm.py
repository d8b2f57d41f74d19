"""The logarithm of numbers below 0, compiled: what docs/compile.md calls logarithm.py."""

import torch
from torch import nn


class Log(nn.Module):
    def forward(self, x):
        return torch.log(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head, self.log = nn.Linear(4, 4), Log()

    def forward(self, x):
        return self.log(self.head(x)).sum()


torch.manual_seed(0)
torch.compile(Net(), backend="pyharness")(torch.randn(3, 4)).backward()

"""A compiled model that is given a table in memory that nobody has: its kernel dies where it loads from it."""

import ctypes

import torch
from torch import nn


class Scale(nn.Module):
    """A gate, and rows of a table."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(32))

    def forward(self, x, table, index):
        """Pick rows by their number."""
        gate = torch.sigmoid(x) * self.weight
        return torch.sin(gate + table[index]).cos()  # @rows


class Net(nn.Module):
    """One layer."""

    def __init__(self):
        super().__init__()
        self.scale = Scale()

    def forward(self, x, table, index):
        """Scale."""
        return self.scale(x, table, index) * 2


def main():
    """Run it twice, the second time with what is no memory."""
    torch.manual_seed(0)
    model = torch.compile(Net())
    nowhere = (ctypes.c_float * 320).from_address(64)
    table = torch.frombuffer(nowhere, dtype=torch.float32).view(10, 32)
    x, index = torch.linspace(-1, 1, 512).view(16, 32), torch.arange(16) % 10
    with torch.no_grad():
        model(x, torch.randn(10, 32), index)
        model(x, table, index)


main()

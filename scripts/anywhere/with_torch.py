"""A traced module with an op of its own, which the library that is the argument has."""

import sys

import torch

torch.ops.load_library(sys.argv[1])


class Scaled(torch.nn.Module):
    """Calls the op."""

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """Scale them."""
        return torch.ops.anywhere.scale(values, 2.0)


class Net(torch.nn.Module):
    """A node before the op, and one after it."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.scaled = Scaled()

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """Call both."""
        return self.linear(self.scaled(values)).sum()


torch.fx.symbolic_trace(Net())(torch.ones(2, 4)).backward()

"""A plain program whose model torch.fx traces: it knows nothing of the harness."""

import torch
from torch import fx, nn


class Norm(nn.Module):
    def forward(self, x):
        return x / x.norm()  # @norm


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Norm(), Norm()])
        self.linear = nn.Linear(3, 3)

    def forward(self, x):  # @def
        for block in self.blocks:
            x = block(x)
        return torch.relu(self.linear(x))  # @relu


def main():
    torch.manual_seed(0)
    module = fx.symbolic_trace(Net())
    module(torch.ones(2, 3))  # @call
    print("ran")


if __name__ == "__main__":
    main()

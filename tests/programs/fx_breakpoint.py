"""A breakpoint before a node, with a condition that holds for one of two calls."""

import torch
from torch import nn

from pyharness.fx import breakpoint_before, materialize, trace


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return torch.relu(self.linear(x))


def main():
    module = breakpoint_before(trace(Net()), "relu", lambda probed: probed.value.shape[0] == 3)
    materialize(module)
    module(torch.ones(2, 4))
    module(torch.ones(3, 4))
    print("done")


if __name__ == "__main__":
    main()

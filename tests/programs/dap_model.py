"""A traced model that calls ops of an extension again and again, forward and backward.

Usage: dap_model.py KERNEL.so
"""

import sys

import torch
from torch import fx, nn

torch.ops.load_library(sys.argv[1])
STDIN, STDOUT = 0, 1


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.full((3,), 2.0))

    def forward(self, x):
        product = x * self.weight
        return torch.ops.tensor_kernel.wait(product, [product, x], x, [2, 3], [4], 1.5, STDOUT, STDIN)  # @wait


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Scale()
        self.second = Scale()

    def forward(self, x):
        doubled = self.second(self.first(x))
        return torch.tanh(torch.ops.tensor_kernel.nesting(doubled, STDOUT, STDIN))  # @nesting


def train(net, number):
    x = torch.arange(6.0).reshape(2, 3) + number  # @x
    loss = net(x).sum()  # @forward
    loss.backward()  # @backward
    return loss.item()  # @loss


net = fx.symbolic_trace(Net())
for number in range(4):
    train(net, number)
print("trained", flush=True)

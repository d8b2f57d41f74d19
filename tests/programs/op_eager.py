"""An eager model that calls an op of an extension, forward and backward; the extension is the first argument."""

import sys

import torch
from torch import nn

torch.ops.load_library(sys.argv[1])
torch.set_num_threads(1)


class Scale(nn.Module):
    def __init__(self, value):
        super().__init__()
        self.weight = nn.Parameter(torch.full((4,), value))

    def forward(self, x):
        y = torch.ops.walk.weighted(x.detach(), 3.0)  # @weighted
        return x * self.weight + y  # @mul


net = nn.Sequential(Scale(2.0), Scale(5.0))
out = net(torch.ones(2, 4))
out.sum().backward()  # @backward
print("done", flush=True)

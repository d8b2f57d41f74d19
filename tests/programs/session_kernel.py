"""One graph that runs an op of ours; with `crash`, an op that reads from nowhere."""

import sys

import torch
from torch import fx, nn

from pyharness import ops
from pyharness.ops import faulty


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))

    def forward(self, x):
        return ops.rms_norm(x, self.weight)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = Norm()

    def forward(self, x):
        return torch.relu(self.norm(x)) + 1


net = fx.symbolic_trace(Net())
out = net(torch.arange(8.0).reshape(2, 4))
if sys.argv[1:] == ["crash"]:
    faulty.null_dereference(out)
print(out.shape)

"""Gives its model a file, says which, waits for a line of input, and runs it."""

import sys

import torch
from torch import fx, nn

from pyharness.fx import Tracer, materialize


class Net(nn.Module):
    def forward(self, x):
        y = torch.tanh(x)
        return torch.relu(y) + 1


def build():
    module = fx.GraphModule(nn.Module(), Tracer().trace(Net()), "Net")
    return module, materialize(module)


if __name__ == "__main__":
    module, made = build()
    print("file", made.file, flush=True)
    if "--pdb" in sys.argv:
        import pdb

        pdb.set_trace()
    else:
        sys.stdin.readline()
    result = module(torch.ones(2))
    print("result", result.tolist(), flush=True)

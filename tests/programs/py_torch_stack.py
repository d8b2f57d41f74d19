"""A traced module with our op: forward and backward, over and over, until its parent is gone; for merged stacks."""

import os
import sys
import threading

import torch
from torch import nn

from pyharness import ops
from pyharness.fx import Tracer, materialize


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))

    def forward(self, x):
        return ops.rms_norm(x, self.weight)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Norm()])

    def forward(self, x):
        return self.blocks[0](x) * 2  # @origin


def train_step(model, scale):
    loss = model(torch.randn(3, 4)).sum() * scale  # @forward
    loss.backward()  # @backward
    return loss


def wait_in_thread(event):
    event.wait()  # @waiting


torch.set_num_threads(1)
graph = Tracer().trace(Model())
traced = torch.fx.GraphModule(Model(), graph)
materialize(traced)
threading.Thread(target=wait_in_thread, args=(threading.Event(),), daemon=True).start()
parent = os.getppid()
print("ready", os.getpid(), flush=True)
sys.stdin.readline()
while os.getppid() == parent:
    train_step(traced, 0.5)

"""Trains until it is ended, on two threads; prints ``ready`` once it is at work."""

import threading

import torch

from pyharness import ops

torch.set_num_threads(1)


def train(width):
    linear, weight = torch.nn.Linear(width, width), torch.ones(width, requires_grad=True)
    while True:
        y = ops.rms_norm(linear(torch.randn(4, width)), weight)
        torch.nn.functional.layer_norm(y, (width,)).sum().backward()  # @backward


threading.Thread(target=train, args=(8,), daemon=True).start()
print("ready", flush=True)
train(16)

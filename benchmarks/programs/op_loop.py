"""Calls a native op in a loop, for ever: what the benchmarks of the debugger step through."""

import torch

from pyharness import ops

x = torch.randn(4, 8)
weight = torch.ones(8)
turn = 0
while True:
    y = ops.rms_norm(x, weight)  # @op
    turn += 1

"""Native breakpoints of the program's own on one op, one after the other; what each does there is an argument."""

import sys

import torch

from pyharness.native import breakpoint as native_breakpoint


def work(x):
    y = x + 1  # @add
    z = y * 2  # @mul
    return z + 3  # @after


for action in sys.argv[1:]:
    with native_breakpoint(op="aten::mul", action=action) as point:
        print(work(torch.ones(2)).tolist())
        print(point.hits, "hit", flush=True)

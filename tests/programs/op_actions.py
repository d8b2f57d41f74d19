"""A native breakpoint of the program's own on one op; what it does there is the argument."""

import sys

import torch

from pyharness.native import breakpoint as native_breakpoint


def work(x):
    y = x + 1  # @add
    z = y * 2  # @mul
    return z + 3  # @after


point = native_breakpoint(op="aten::mul", action=sys.argv[1])
print(work(torch.ones(2)).tolist())
print(point.hits, "hit", flush=True)

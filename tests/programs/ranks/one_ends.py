"""Ranks that call a collective in each step; in the third, rank 1 ends in a way of the argument."""

import ctypes
import sys

import torch
import torch.distributed as dist


def segfault(x):
    ctypes.string_at(0)  # @segfault


def raises(x):
    raise RuntimeError("no batch")  # @raises


dist.init_process_group("gloo")
for step in range(5):
    x = torch.ones(4)
    if step == 2 and dist.get_rank() == 1:
        globals()[sys.argv[1]](x)
    dist.all_reduce(x)  # @together

"""A function that torch.compile runs from our files."""

import torch


@torch.compile(backend="pyharness")
def double(x):
    return torch.relu(x) * 2  # @relu


print(double(torch.ones(2)).tolist())

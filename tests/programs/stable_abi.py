"""Calls ops over torch's stable ABI, of the library that is named."""

import sys

import torch

torch.ops.load_library(sys.argv[1])
table = torch.arange(6.0).reshape(2, 3)
bias = torch.ones(3)
output = torch.ops.steady.doubled(table, bias, [table, bias], "cpu")  # @call
print(torch.ops.steady.same(output))

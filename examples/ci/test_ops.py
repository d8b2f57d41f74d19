"""A test that keeps watch over what ops a block runs: a copy that somebody brought in fails it."""

import pytest
import torch
from torch import nn


class Block(nn.Module):
    def forward(self, x):
        y = x.transpose(0, 1).contiguous()  # .contiguous() came later
        return torch.relu(y * 2)


@pytest.mark.pyharness(max_new_ops=0)
def test_block():
    Block()(torch.ones(3, 4))

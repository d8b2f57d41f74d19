"""A test that watches what ops a block runs, for docs/guides/ci.md: a copy that somebody brought in fails it."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn


class Block(nn.Module):
    """Doubles, and cuts off what is negative."""

    def forward(self, x: Tensor) -> Tensor:
        """Shape [n, m] becomes [m, n]."""
        y = x.transpose(0, 1).contiguous()  # .contiguous() came after the ops had been written down
        return torch.relu(y * 2)


@pytest.mark.pyharness(max_new_ops=0)
def test_block() -> None:
    """No more ops than were written down."""
    Block()(torch.ones(3, 4))

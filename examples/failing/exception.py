"""A C++ exception that reaches Python as a ``RuntimeError`` (docs/guides/crash.md)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from pyharness.ops import faulty


class Checked(nn.Module):
    """Throws in C++, below the kernel."""

    def forward(self, x: Tensor) -> Tensor:
        """(N,) to (N,)."""
        return faulty.exception(x)


if __name__ == "__main__":
    print(nn.Sequential(nn.Linear(4, 4), Checked())(torch.ones(2, 4)))

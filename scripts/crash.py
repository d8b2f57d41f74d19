"""A program that dies in native code: the third layer reads through a null pointer (for crash.gdb and core.gdb)."""

from __future__ import annotations

import torch
from torch import Tensor, fx, nn

from pyharness.ops import faulty


class Layer(nn.Module):
    """Works, or does not."""

    def __init__(self, *, broken: bool) -> None:
        super().__init__()
        self.broken = broken

    def forward(self, x: Tensor) -> Tensor:
        """(N,) to (N,)."""
        return faulty.null_dereference(x) if self.broken else x * 2


if __name__ == "__main__":
    model = fx.symbolic_trace(nn.Sequential(Layer(broken=False), Layer(broken=False), Layer(broken=True)))
    print(model(torch.arange(4.0)))

"""A program that runs until it is ended, to attach to (for attach.gdb): it prints ``ready`` once it is at work."""

from __future__ import annotations

import torch
from torch import Tensor, fx, nn

from pyharness import ops


class Model(nn.Module):
    """One op of ours, one of torch's."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(64))

    def forward(self, x: Tensor) -> Tensor:
        """(..., 64), the same shape out."""
        return torch.tanh(ops.rms_norm(x, self.weight))


if __name__ == "__main__":
    model = fx.symbolic_trace(Model())
    x = torch.randn(8, 64)
    print("ready", flush=True)
    while True:
        x = model(x).detach()

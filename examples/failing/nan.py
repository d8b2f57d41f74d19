"""Trains until the loss is NaN: a backward divides by zero (docs/guides/nan.md)."""

from __future__ import annotations

import torch
from torch import Tensor, fx, nn

from pyharness.ops import faulty


class Distances(nn.Module):
    """How far each feature is from a learned anchor."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.anchor = nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor) -> Tensor:
        """(rows, width), the same shape out."""
        return faulty.nan_backward(x - self.anchor)


def train() -> None:
    """Four steps on data with an exact zero."""
    torch.manual_seed(0)
    model = fx.symbolic_trace(nn.Sequential(Distances(4), nn.Linear(4, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(8, 4)
    x[3, 1] = 0
    for step in range(4):
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    train()

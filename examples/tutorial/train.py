"""Trains a small model with the extension of docs/tutorial.md: ``python train.py [--padded]``."""

import sys

import torch
from torch import Tensor, fx, nn

# isort: split
import rows  # noqa: F401  (registers torch.ops.rows; behind torch, whose libraries it needs)


class Block(nn.Module):
    """Mix, scale, and bring each row to length 1."""

    def __init__(self, width: int, scale: float) -> None:
        super().__init__()
        self.mix = nn.Linear(width, width, bias=False)
        self.scale = nn.Parameter(torch.tensor(scale))

    def forward(self, x: Tensor) -> Tensor:
        """(rows, width), the same shape out."""
        x = self.mix(x)
        return torch.ops.rows.unit_rows(x * self.scale)


class Net(nn.Module):
    """Two blocks and a number for each row."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.Sequential(Block(4, scale=2.0), Block(4, scale=-2.0))
        self.head = nn.Linear(4, 1)

    def forward(self, x: Tensor) -> Tensor:
        """(rows, 4) to (rows, 1)."""
        return self.head(self.blocks(x))


def batch(*, padded: bool = False) -> Tensor:
    """Eight rows; a data loader has filled up a short batch with zeros."""
    x = torch.randn(8, 4)
    if padded:
        x[5:] = 0
    return x


def train(*, padded: bool) -> None:
    """Three steps."""
    torch.manual_seed(0)
    model = fx.symbolic_trace(Net())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        loss = (model(batch(padded=padded)) - 1).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    train(padded="--padded" in sys.argv)

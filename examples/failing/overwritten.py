"""A model that watches its activations by an op in C++, which writes over them (docs/guides/gradient.md)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from pyharness.ops import faulty


class Energies(nn.Module):
    """Weighs the features, and squares them."""

    def __init__(self) -> None:
        super().__init__()
        self.weigh = nn.Linear(3, 3)
        self.largest = 0.0

    def forward(self, x: Tensor) -> Tensor:
        """(rows, 3), the same shape out."""
        weighed = self.weigh(x)
        energies: Tensor = weighed * weighed
        self.largest = faulty.overwritten_input(weighed.detach()).item()
        return energies


def train() -> None:
    """A step, and the slope that is wrong after it."""
    torch.manual_seed(0)
    model = Energies()
    x = torch.linspace(-1, 1, 6).reshape(2, 3)
    model(x).sum().backward()
    print("largest", round(model.largest, 4), "bias.grad", model.weigh.bias.grad)


if __name__ == "__main__":
    train()

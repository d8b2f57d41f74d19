"""A program that trains until it is ended, to attach to: it prints ``ready`` once it is at work."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from pyharness import ops


class Model(nn.Module):
    """One op of ours between two of torch's."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        """(..., width), the same shape out."""
        return torch.tanh(ops.rms_norm(self.linear(x), self.weight))


def train(model: Model) -> None:
    """One step."""
    loss = model(torch.randn(8, 64)).square().sum()
    loss.backward()
    model.zero_grad()


if __name__ == "__main__":
    torch.set_num_threads(1)
    model = Model(64)
    print("ready", flush=True)
    while True:
        train(model)

"""The model of the pages on passes: what they call net.py."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(x)
        return torch.softmax(self.norm(y - x), dim=-1)


def inputs() -> torch.Tensor:
    return torch.linspace(-2, 2, 32).reshape(4, 8)

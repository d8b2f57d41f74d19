"""Functions whose Jacobians are measured, each with inputs, small and large."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import nn

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Case:
    """A module and its input; the first dimension counts samples that do not influence one another."""

    name: str
    module: nn.Module
    x: Tensor

    @property
    def batch(self) -> int:
        """Samples."""
        return self.x.shape[0]


def mlp(batch: int, inputs: int, hidden: int, outputs: int) -> Case:
    """Three linear layers with tanh between them."""
    layers = (nn.Linear(inputs, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, outputs))
    return Case(f"MLP {batch}x{inputs}-{hidden}-{hidden}-{outputs}", nn.Sequential(*layers), torch.randn(batch, inputs))


def attention() -> Case:
    """A transformer layer and the mean over its positions."""
    layer = nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True)
    return Case("attention 16x32x64", nn.Sequential(layer, _Mean()), torch.randn(16, 32, 64))


def convolution() -> Case:
    """Two convolutions and a linear layer, on small images."""
    layers = (
        nn.Conv2d(3, 16, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
        nn.Linear(128, 10),
    )
    return Case("convolution 64x3x32x32", nn.Sequential(*layers), torch.randn(64, 3, 32, 32))


class _Mean(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.mean(1)


def small() -> list[Case]:
    """Cases of a few milliseconds, where what a call costs before and after its products shows."""
    return [mlp(64, 64, 128, 32), mlp(1, 256, 256, 128)]


def timed() -> list[Case]:
    """Cases of tens of milliseconds and more."""
    return [mlp(64, 256, 512, 64), mlp(32, 512, 512, 128), attention(), convolution()]


def large() -> Case:
    """One whose gradients are far larger than what else a process has: for the memory."""
    return mlp(64, 512, 1024, 256)

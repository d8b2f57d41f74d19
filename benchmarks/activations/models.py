"""Models whose modules are captured: some to take the time of, some that are hard to see into."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from benchmarks.watching.models import EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable

    Model = Callable[[], tuple[nn.Module, Tensor]]


def small() -> tuple[nn.Module, Tensor]:
    """Layers so small that a forward pass is mostly calls."""
    layers = [layer for _ in range(20) for layer in (nn.Linear(32, 32), nn.ReLU())]
    return nn.Sequential(*layers), torch.randn(4, 32)


def resnet18() -> tuple[nn.Module, Tensor]:
    """``examples/resnet18.py``."""
    if str(EXAMPLES) not in sys.path:
        sys.path.append(str(EXAMPLES))
    example: Any = importlib.import_module("resnet18")
    model: nn.Module = example.ResNet18()
    return model, torch.randn(2, 3, example.SIZE, example.SIZE)


def encoder() -> tuple[nn.Module, Tensor]:
    """Four layers of torch's own transformer."""
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True, dropout=0.0)
    return nn.TransformerEncoder(layer, 4, enable_nested_tensor=False), torch.randn(4, 16, 64)


TIMED: dict[str, Model] = {"small layers": small, "ResNet-18": resnet18, "encoder": encoder}


class Loop(nn.Module):
    """Calls one layer three times."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        """Takes (B, 8)."""
        for _ in range(3):
            x = torch.tanh(self.layer(x))
        return x


class Shared(nn.Module):
    """One layer in two places."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(8, 8)
        self.head = nn.Sequential(nn.Tanh(), self.embed)

    def forward(self, x: Tensor) -> Tensor:
        """Takes (B, 8)."""
        found: Tensor = self.head(self.embed(x))
        return found


class Nested(nn.Module):
    """Returns a dictionary with a tuple in it, and changes what it returned in place afterwards."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Returns()
        self.activation = nn.ReLU(inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        """Takes (B, 8)."""
        found = self.inner(x)
        result: Tensor = self.activation(found["states"][1])
        added: Tensor = result + found["states"][0]
        return added


class Returns(nn.Module):
    """A module that returns its dictionary."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x: Tensor) -> dict[str, Any]:
        """Takes (B, 8)."""
        return {"states": (self.layer(x), self.layer(x + 1))}


class Fails(nn.Module):
    """Raises after two of its layers."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 8), nn.ReLU(inplace=True), nn.Linear(9, 9))

    def forward(self, x: Tensor) -> Tensor:
        """Takes (B, 8)."""
        result: Tensor = self.layers(x)
        return result


AWKWARD: dict[str, Callable[[], nn.Module]] = {
    "called in a loop": Loop,
    "shared": Shared,
    "nested outputs": Nested,
    "in-place activations": lambda: nn.Sequential(nn.Linear(8, 8), nn.ReLU(inplace=True), nn.Linear(8, 8)),
    "raises": Fails,
}

"""A model that torch.compile breaks in two and compiles again, trained a few steps with the backend ``pyharness``.

Run it: ``python examples/compiled.py``. What Dynamo made of it: ``pyharness fx compiled examples/compiled.py``.
"""

from __future__ import annotations

import argparse

import torch
from torch import Tensor, nn

from pyharness import ops

WIDTH = 32
CLASSES = 8
LIMIT = 4.0


class Block(nn.Module):
    """Normalize, gate, project: (B, WIDTH), the same shape out."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))
        self.gate = nn.Linear(WIDTH, WIDTH)
        self.up = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        """Two of our ops; each stays one call in the compiled graphs."""
        x = ops.rms_norm(x, self.weight)
        return ops.swiglu(self.gate(x), self.up(x))


class Classifier(nn.Module):
    """Points (B, WIDTH) and their classes (B,) to the loss, a scalar."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, x: Tensor, classes: Tensor) -> Tensor:
        """A branch on a value lies between the blocks and the head."""
        for block in self.blocks:
            x = x + block(x)
        if x.abs().amax() > LIMIT:  # the graph breaks here: only the running program knows the value
            x = x.clamp(-LIMIT, LIMIT)
        return ops.softmax_cross_entropy(self.head(x), classes)


def batch(size: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Noisy points around one corner for each class: (``size``, WIDTH) and (``size``,)."""
    classes = torch.randint(CLASSES, (size,), generator=generator)
    points = nn.functional.one_hot(classes, WIDTH) * 3 + torch.randn(size, WIDTH, generator=generator)
    return points, classes


def train(steps: int, backend: str = "pyharness") -> None:
    """Compile, then train; the last batch is smaller, so its shape is compiled for again."""
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    model = Classifier()
    compiled = torch.compile(model, backend=backend)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step in range(steps):
        points, classes = batch(64 if step < steps - 1 else 48, generator)
        loss = compiled(points, classes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--backend", default="pyharness")
    given = parser.parse_args()
    train(given.steps, given.backend)

"""Two threads that wait for each other, one for a lock, one for the GIL (docs/guides/hang.md)."""

from __future__ import annotations

import torch

from pyharness.ops import faulty


def step(x: torch.Tensor) -> torch.Tensor:
    """Never returns."""
    return faulty.deadlock(x)


if __name__ == "__main__":
    print("training", flush=True)
    step(torch.ones(4))

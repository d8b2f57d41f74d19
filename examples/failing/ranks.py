"""Four ranks train; in the third step rank 3 calls an op that takes its locks in the wrong order, and all hang.

``torchrun --nproc-per-node 4 examples/failing/ranks.py``, then ``pyharness ranks`` in another terminal.
"""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from pyharness.ops import faulty


class Block(nn.Module):
    """A linear layer with a residual."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Tensors of shape [batch, width]."""
        return x + self.linear(x).relu()


def augmented(batch: torch.Tensor, step: int) -> torch.Tensor:
    """The batch; in the third step of rank 3 the op never returns."""
    if step == 2 and dist.get_rank() == 3:
        return faulty.deadlock(batch)
    return batch


def train(model: nn.Module, steps: int) -> None:
    """A few steps on random batches."""
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for step in range(steps):
        batch = augmented(torch.randn(8, 16), step)
        loss = model(batch).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    dist.init_process_group("gloo")
    train(DistributedDataParallel(nn.Sequential(Block(16), Block(16))), 5)
    dist.destroy_process_group()

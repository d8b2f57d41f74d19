"""A critic with a gradient penalty: ``torch.autograd.grad`` through a C++ op: ``python examples/gradient_penalty.py``.

The penalty is Gulrajani et al., "Improved Training of Wasserstein GANs", 2017, equation 3: the gradient of what the
critic says of a point should have length 1. So one backward pass runs inside of the loss, and a second one goes
through it.
"""

from __future__ import annotations

import argparse

import torch
from torch import Tensor, nn

from pyharness import ops

BATCH = 16
WIDTH = 32


class Critic(nn.Module):
    """Points (B, WIDTH) to scores (B, 1)."""

    def __init__(self) -> None:
        super().__init__()
        self.widen = nn.Linear(WIDTH, WIDTH)
        self.weight = nn.Parameter(torch.ones(WIDTH))
        self.head = nn.Linear(WIDTH, 1)

    def forward(self, points: Tensor) -> Tensor:
        """A score for each point."""
        return self.head(ops.rms_norm(torch.tanh(self.widen(points)), self.weight))


def penalty(critic: Critic, points: Tensor) -> Tensor:
    """How far the slopes of the critic at ``points`` (B, WIDTH) are from 1; a scalar."""
    points = points.detach().requires_grad_()
    scores = critic(points)
    (slopes,) = torch.autograd.grad(scores.sum(), points, create_graph=True)
    return (slopes.norm(dim=1) - 1).square().mean()


def train(steps: int) -> None:
    """Tell points from noise."""
    torch.manual_seed(0)
    critic = Critic()
    optimizer = torch.optim.Adam(critic.parameters(), lr=1e-2)
    for step in range(steps):
        noise, points = torch.randn(BATCH, WIDTH), torch.randn(BATCH, WIDTH) + 1
        loss = critic(noise).mean() - critic(points).mean() + 10 * penalty(critic, (noise + points) / 2)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=5)
    train(parser.parse_args().steps)

"""The program that the pages call train.py: blocks of a norm and a gated MLP on C++ ops, traced by torch.fx.

``--epochs 0`` trains until it is ended: a program to attach to.
"""

from __future__ import annotations

import argparse
import itertools
import time

import torch
from torch import Tensor, fx, nn

from pyharness import ops

WIDTH = 16


class Norm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        return ops.rms_norm(x, self.weight)


class Mlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(WIDTH, WIDTH)
        self.up = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        return ops.swiglu(self.gate(x), self.up(x))


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.mlp = Norm(), Mlp()

    def forward(self, x: Tensor) -> Tensor:
        return x + self.mlp(self.norm(x))


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        hidden = x
        for block in self.blocks:
            hidden = block(hidden)
        return hidden - x


def train(epochs: int) -> None:
    torch.manual_seed(0)
    model = fx.symbolic_trace(Net())
    print("training", flush=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in itertools.count():
        if epochs and epoch >= epochs:
            return
        loss = model(torch.randn(4, WIDTH)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if not epochs:
            time.sleep(0.05)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=1)
    train(parser.parse_args().epochs)

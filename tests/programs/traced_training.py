"""A model that trains two steps, on the main thread and on one of its own."""

import sys
import threading

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def forward(self, x):
        return x + torch.relu(self.inner(x))  # @block


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(2))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def train():
    model = torch.fx.symbolic_trace(Model())
    for _ in range(2):
        model(torch.ones(2, 4)).sum().backward()


def main():
    worker = threading.Thread(target=train, name="second trainer")
    train()
    worker.start()
    worker.join()
    print("arguments", *sys.argv[1:])


if __name__ == "__main__":
    main()

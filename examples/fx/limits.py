"""What symbolic tracing cannot see, and what to do: ``python examples/fx/limits.py``."""

from __future__ import annotations

import math

import torch
from torch import Tensor, fx, nn

from pyharness.fx import CannotTraceError, trace


class Branching(nn.Module):
    """Asks a value."""

    def forward(self, x: Tensor, *, flip: bool = False) -> Tensor:
        """(...) to (...)."""
        if flip:
            return -x
        return x if x.sum() > 0 else x.abs()


class Model(nn.Module):
    """Has a module that cannot be traced, and a flag that can be fixed."""

    def __init__(self) -> None:
        super().__init__()
        self.branch = Branching()

    def forward(self, x: Tensor, *, flip: bool = False) -> Tensor:
        """(...) to (...)."""
        return self.branch(x, flip=flip) + 1


fx.wrap("rows")


def rows(x: Tensor) -> int:
    """Plain Python on a value: as one node it is not looked into."""
    return math.isqrt(len(x))


def main() -> None:
    """Meet each limit."""
    model = Model()
    try:
        trace(model)
    except CannotTraceError as error:
        print(str(error).replace(__file__, "limits.py"))
    print("kept whole:     ", [node.name for node in trace(model, leaves="branch").graph.nodes])
    print("flag fixed:     ", [node.name for node in trace(model, concrete_args={"flip": True}).graph.nodes])
    print("wrapped:        ", trace(lambda x: x * rows(x)).code.split("\n")[-4].strip())
    module = trace(nn.Sequential(nn.Dropout(0.5)).eval())
    x = torch.ones(1000)
    print("nn.Dropout follows train():", bool((module.train()(x) == 0).any()))
    fixed = trace(nn.Sequential(nn.Dropout(0.5)).eval(), inline=nn.Dropout)
    print("its function is fixed:     ", bool((fixed.train()(x) == 0).any()))


if __name__ == "__main__":
    main()

"""What is one node and what is traced into: ``python examples/fx/leaves.py``.

By type, by path, by predicate, for one trace; no subclass of a tracer is needed.
"""

from __future__ import annotations

import torch
from torch import Tensor, fx, nn

from pyharness.fx import trace


class Attention(nn.Module):
    """A block that a pass wants to see whole."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(8, 24)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, 8) to (B, T, 8)."""
        q, k, v = torch.split(self.qkv(x), 8, -1)
        return nn.functional.scaled_dot_product_attention(q, k, v)


class Model(nn.Module):
    """Attention, then a small network."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Attention(), Attention()])
        self.head = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, 8) to (B, T, 2)."""
        for block in self.blocks:
            x = x + block(x)
        return self.head(x)


def is_small(module: nn.Module, _path: str) -> bool:
    """Fewer than 300 parameters."""
    return sum(parameter.numel() for parameter in module.parameters()) < 300


def nodes(module: fx.GraphModule) -> str:
    """The names of what is computed."""
    return " ".join(node.name for node in module.graph.nodes if node.op.startswith("call_"))


def main() -> None:
    """Trace one model in several ways."""
    model = Model()
    print("as torch does:    ", nodes(trace(model)))
    print("blocks whole:     ", nodes(trace(model, leaves=Attention)))
    print("the second whole: ", nodes(trace(model, leaves="blocks.1")))
    print("ReLU as function: ", nodes(trace(model, leaves=Attention, inline=nn.ReLU)))
    print("Linears, but not in the head:")
    print("                  ", nodes(trace(model, inline=nn.Linear, leaves="head.*")))
    print("small ones whole: ", nodes(trace(model, leaves=is_small)))


if __name__ == "__main__":
    main()

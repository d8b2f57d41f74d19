"""The inverse of a graph, from an open table: ``python examples/fx/inverting.py``."""

from __future__ import annotations

import torch
from torch import Tensor, fx, nn

from pyharness.fx import NotInvertibleError, inverse, invert, tags_of, trace


class Flow(nn.Module):
    """A chain of invertible steps, as functions, methods, operators and modules."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor([1.5, 2.0], dtype=torch.float64))
        self.squash = nn.Tanh()

    def forward(self, x: Tensor) -> Tensor:
        """(..., 2) to (..., 2)."""
        y = torch.sin(x) * self.scale.exp()
        return self.squash(2 - y / 3).exp()


fx.wrap("swap")


def swap(x: Tensor) -> Tensor:
    """Halves of the last dimension, the other way around."""
    return x.flip(-1)


@inverse(swap, domain="all x")
def _(y: Tensor) -> Tensor:
    return swap(y)


def main() -> None:
    """Invert a model, extend the table, and meet what has no inverse."""
    flow = Flow()
    inverted = invert(trace(flow))
    print(inverted.code.strip())
    print("\neach step, and where it holds:")
    for node in inverted.graph.nodes:
        tags = tags_of(node)
        if "inverse_of" in tags:
            print(f"  {node.name:10} undoes {tags['inverse_of']:10} for {tags['domain']}")
    x = torch.linspace(-1.5, 1.5, 50, dtype=torch.float64).reshape(-1, 2)
    print(f"round trip within 1e-12: {(inverted(flow(x)) - x).abs().max().item() < 1e-12}")
    again = invert(trace(lambda x: swap(torch.exp(x)) + 1))
    print("a function of ours:", [node.name for node in again.graph.nodes if node.op == "call_function"])
    try:
        invert(trace(lambda x: torch.sin(x) + torch.cos(x)))
    except NotInvertibleError as error:
        print(error.message.replace(__file__, "inverting.py"))


if __name__ == "__main__":
    main()

"""A model whose C++ backward is wrong by a factor: no error, no NaN (docs/guides/gradient.md)."""

from __future__ import annotations

import torch
from torch import Tensor, fx, nn

from pyharness.ops import faulty


class Cubes(nn.Module):
    """Weighs the features, and cubes them."""

    def __init__(self) -> None:
        super().__init__()
        self.weigh = nn.Linear(3, 3).double()

    def forward(self, x: Tensor) -> Tensor:
        """(rows, 3), the same shape out."""
        return faulty.wrong_gradient(torch.tanh(self.weigh(x)))


def in_torch(graph: fx.Graph) -> None:
    """The same without C++: a reference, for ``pyharness fx verify --gradients``."""
    for node in graph.find_nodes(op="call_function", target=torch.ops.pyharness.faulty_wrong_gradient.default):
        node.target, node.args = torch.pow, (node.args[0], 3)


def example() -> Tensor:
    """Two rows."""
    return torch.linspace(-1, 1, 6, dtype=torch.double).reshape(2, 3).requires_grad_()


if __name__ == "__main__":
    torch.manual_seed(0)
    model = Cubes()
    model(example()).sum().backward()
    print(torch.autograd.gradcheck(model, (example(),)))

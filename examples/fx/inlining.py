"""A module's call becomes its nodes: ``python examples/fx/inlining.py``.

The module is traced with what it is called with: in the first call there is no mask, and its branch is gone.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from pyharness.fx import inline, trace


class Gate(nn.Module):
    """A gate that may be masked."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Gated ``x`` (..., 4), and the gate."""
        gate = torch.sigmoid(x * self.weight)
        if mask is not None:
            gate = gate * mask
        return x * gate, gate


class Model(nn.Module):
    """Calls one module twice."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = Gate()

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """(..., 4) to (..., 4)."""
        x, _ = self.gate(x)
        x, gate = self.gate(x, mask)
        return x - gate


def main() -> None:
    """Print the code before and after."""
    model = Model()
    whole = trace(model, leaves=Gate)
    flat = inline(whole, "gate")
    print(whole.code.strip(), flat.code.strip(), sep="\n\n")
    x, mask = torch.randn(3, 4), torch.rand(3, 4)
    print("\ndifference:", (flat(x, mask) - model(x, mask)).abs().max().item())
    print("the parameter is shared:", flat.gate.weight is model.gate.weight)


if __name__ == "__main__":
    main()

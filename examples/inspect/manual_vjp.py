"""Vector-Jacobian products by hand: ``python examples/inspect/manual_vjp.py``.

``torch.autograd.grad(outputs, inputs, v)`` is the recipe; ``vjp`` is the same with its arguments checked, and says why
an input has no gradient instead of "One of the differentiated Tensors appears to not have been used in the graph".
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from pyharness.inspect import capture, vjp
from pyharness.model.errors import UsageError


def main() -> None:
    """Products, second derivatives, and errors that help."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))
    x = torch.randn(5, 3, requires_grad=True)
    y = model(x)

    row = torch.zeros_like(y)
    row[0, 1] = 1
    print("one row of J:", vjp(y, x, row, retain_graph=True)[0])

    slope = vjp(y, x, torch.ones_like(y), create_graph=True)
    print("and its derivative:", vjp(slope.square().sum(), x, retain_graph=True).norm())

    found = vjp({"y": y, "sum": y.sum()}, [x, *model.parameters()], {"y": torch.ones_like(y), "sum": torch.tensor(2.0)})
    print("nested:", [tuple(each.shape) for each in found])

    with capture(model, detach=False) as captured:
        model(x)
    print("between modules:", tuple(vjp(captured["2"], captured["0"], torch.ones(5, 2)).shape))

    scale = torch.ones(3, requires_grad=True)
    explain(model(x), x, torch.ones(2, 5))
    explain(model(x), x, torch.ones(5, 2, dtype=torch.float64))
    explain(model(x), (x, scale), torch.ones(5, 2))
    explain(model(x), x[:2], torch.ones(5, 2))
    explain(model(x).argmax(1), x, torch.ones(5))


def explain(outputs: Any, inputs: Any, v: Any) -> None:
    """Show what is wrong with them."""
    try:
        vjp(outputs, inputs, v)
    except UsageError as error:
        print(f"\n{error}")


if __name__ == "__main__":
    main()

"""‖J‖²_F, exactly and estimated, of a model and between its modules: ``python examples/inspect/jacobian_frobenius.py``.

One backward pass cannot give it. What is often written, the squared gradient of a sum of outputs, is ‖1ᵀJ‖²: another
number, as the first lines show.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import nn

from pyharness.inspect import capture, jacobian_norm


def main() -> None:
    """The number, a wrong one, its estimate, where it comes from, and how to train with it."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(32, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 16))
    x = torch.randn(8, 32, requires_grad=True)

    exact = jacobian_norm(model, x, per_sample=True)
    print(exact)
    (gradient,) = torch.autograd.grad(model(x).sum(), x)
    print(f"one backward pass gives {gradient.square().sum():.4f}, which is not it\n")

    estimate = jacobian_norm(model, x, rtol=0.02, generator=torch.Generator().manual_seed(0))
    low, high = estimate.interval()
    print(estimate)
    print(f"the interval holds the exact number: {low <= float(exact) <= high}\n")

    with capture(model, detach=False, depth=1) as captured:
        model(x)
    points = [x, *(captured[str(number)] for number in range(5))]
    for before, after in pairwise(points):
        print(f"module {after.name} by what goes into it: {float(jacobian_norm(after, before, per_sample=True)):.2f}")

    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(3):
        penalty = jacobian_norm(model, x, probes=1, create_graph=True).squared / len(x)
        optimizer.zero_grad()
        penalty.backward()
        optimizer.step()
        print(f"step {step}: {float(jacobian_norm(model, x, per_sample=True)) / len(x):.4f} for each sample")


if __name__ == "__main__":
    main()

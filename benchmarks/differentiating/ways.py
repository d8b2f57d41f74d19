"""Every way to the norm of a Jacobian of independent samples: ours, and how else it is done."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import torch

from pyharness.inspect import jacobian_norm

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torch import Tensor

    from benchmarks.differentiating.cases import Case

    Way = Callable[[Case], float]

OURS = "pyharness.jacobian_norm"
HELD = f"{OURS}, memory=1 MiB"
LEAST = 1 << 20
LOOP = "loop of torch.autograd.grad"
BATCHED = "grad(is_grads_batched=True)"
JACREV = "torch.func.vmap(jacrev)"
PEER = "facebookresearch jacobian"


def ours(case: Case) -> float:
    """‖J‖²_F, by a row at a time of each sample."""
    return float(jacobian_norm(case.module, case.x, per_sample=True))


def ours_held(case: Case) -> float:
    """‖J‖²_F in the least memory, in which no two rows of a large case fit."""
    return float(jacobian_norm(case.module, case.x, per_sample=True, memory=LEAST))


def loop(case: Case) -> float:
    """A VJP for each output of a sample, one after the other."""
    y, x = _forward(case)
    total = 0.0
    for column in range(y.shape[1]):
        (gradient,) = torch.autograd.grad(y[:, column].sum(), x, retain_graph=True)
        total += float(gradient.square().sum())
    return total


def batched(case: Case) -> float:
    """All of them in one call."""
    y, x = _forward(case)
    rows = torch.eye(y.shape[1])[:, None].expand(-1, case.batch, -1)
    (gradients,) = torch.autograd.grad(y, x, rows, is_grads_batched=True)
    return float(gradients.square().sum())


def jacrev(case: Case) -> float:
    """The whole Jacobian of each sample."""
    jacobian: Tensor = torch.func.vmap(torch.func.jacrev(lambda x: case.module(x[None])[0]))(case.x)
    return float(jacobian.square().sum())


def peer(case: Case, projections: int = -1) -> float:
    """All of its orthonormal projections; it gives half the mean over the samples, and keeps it differentiable."""
    regularizer: Any = importlib.import_module("jacobian").JacobianReg(n=projections)
    y, x = _forward(case)
    return 2 * case.batch * float(regularizer(x, y).detach())


def exact(*, with_peer: bool) -> Mapping[str, Way]:
    """Every way to the exact number."""
    found: dict[str, Way] = {OURS: ours, LOOP: loop, BATCHED: batched, JACREV: jacrev}
    return found | ({PEER: peer} if with_peer else {})


def _forward(case: Case) -> tuple[Tensor, Tensor]:
    x = case.x.detach().requires_grad_()
    return case.module(x), x

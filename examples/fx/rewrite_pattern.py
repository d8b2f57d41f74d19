"""A pattern of ops becomes one C++ op, however it was written: ``python examples/fx/rewrite_pattern.py``."""

from __future__ import annotations

import torch
from torch import Tensor, nn

import pyharness.ops as _loaded  # noqa: F401  (registers torch.ops.pyharness)
from pyharness.fx import provenance, replace, tags_of, trace


class Norm(nn.Module):
    """RMSNorm as one person writes it."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(8))

    def forward(self, x: Tensor) -> Tensor:
        """(..., 8) to (..., 8)."""
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


class OtherNorm(Norm):
    """And as another does."""

    def forward(self, x: Tensor) -> Tensor:
        """(..., 8) to (..., 8)."""
        return torch.mul(torch.rsqrt(1e-5 + torch.mean(x**2, dim=-1, keepdim=True)), x) * self.weight


def rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """The pattern: its inputs stand for nodes or constants."""
    return x * torch.rsqrt((x**2).mean(-1, keepdim=True) + eps) * weight


def main() -> None:
    """Replace, and say what was replaced."""
    model = nn.Sequential(Norm(), nn.Linear(8, 8), OtherNorm())
    module = trace(model)
    fused = replace(module, rms_norm, torch.ops.pyharness.rms_norm.default)
    print(fused.code.strip(), "\n")
    for node in fused.graph.nodes:
        if "replaced" in tags_of(node):
            print(f"{node.name} in module {provenance.of(node).module} replaces {tags_of(node)['replaced']}")
    x = torch.randn(4, 8)
    print("equal:", torch.allclose(fused(x), model(x), atol=1e-6))


if __name__ == "__main__":
    main()

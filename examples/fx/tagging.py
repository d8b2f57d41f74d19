"""Tags on nodes as they are created, and what keeps them: ``python examples/fx/tagging.py``.

Tags lie where torch keeps annotations (``node.meta["custom"]``), hence ``torch.fx.traceback.annotate`` in a model
works too, here as under ``torch.export`` and ``torch.compile``.
"""

from __future__ import annotations

import copy

import torch
from torch import Tensor, fx, nn

from pyharness.fx import provenance, tagged, tags_of, trace


class Model(nn.Module):
    """Says itself which part is which."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Linear(4, 4)
        self.decoder = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        """(..., 4) to (..., 4)."""
        with tagged(stage="encode"):
            code = torch.relu(self.encoder(x))
        with tagged(stage="decode"):
            return self.decoder(code).sigmoid()


def depth(node: fx.Node) -> dict[str, int]:
    """How deep the module lies that made the node: a tag from a function."""
    path = provenance.of(node).module or ""
    return {"depth": len(path.split(".")) if path else 0}


class Gelu(fx.Transformer):
    """Swaps an op, as any Transformer of torch's."""

    def call_function(self, target: object, args: tuple, kwargs: dict) -> object:
        """``gelu`` in place of ``relu``."""
        return super().call_function(nn.functional.gelu if target is torch.relu else target, args, kwargs)


def main() -> None:
    """Tag, change and copy."""
    module = trace(Model(), tags=depth)
    for name, made in {
        "traced": module,
        "deepcopy": copy.deepcopy(module),
        "Transformer": Gelu(module).transform(),
    }.items():
        print(name)
        for node in made.graph.nodes:
            if node.op.startswith("call_"):
                print(f"  {node.name:8} {tags_of(node)}")


if __name__ == "__main__":
    main()

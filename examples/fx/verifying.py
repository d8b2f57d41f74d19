"""Whether a pass keeps what a model computes, and which node differs first: ``python examples/fx/verifying.py``.

The pitfalls of torch.fx's debugging guide: a dropout that a trace has left in training mode, and a result that is off
by so little that no eye sees it.
"""

from __future__ import annotations

import torch
from torch import Tensor, fx, nn

from pyharness.fx import trace, verify


class Net(nn.Module):
    """A layer in half precision, a dropout, a softmax."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.drop = nn.Dropout(0.5)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        """(batch, 8) to (batch, 8)."""
        scores = self.drop(self.linear(x)).half() * 3
        return {"scores": scores, "chances": torch.softmax(scores.float(), dim=-1)}


def without_casts(module: fx.GraphModule) -> fx.GraphModule:
    """A pass that thinks too little of casts."""
    for node in module.graph.nodes:
        if node.op == "call_method" and node.target == "half":
            node.replace_all_uses_with(node.args[0])
            module.graph.erase_node(node)
    module.recompile()
    return module


def main() -> None:
    """Compare, and print what is found."""
    torch.manual_seed(0)
    model, x = Net().eval(), torch.randn(4, 8)
    print("as traced:      ", repr(verify(model, trace(model), x)))
    print(verify(model, without_casts(trace(model)), x))

    training = trace(model)
    training.drop = nn.Dropout(0.5)  # a new module is in training mode
    first = verify(model, training, x).first
    print("in another mode:", first and f"{first.node}: {first.reason}")


if __name__ == "__main__":
    main()

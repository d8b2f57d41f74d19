"""Shapes of every node, by running the graph or without data: ``python examples/fx/shape_propagation.py``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch._subclasses import FakeTensorMode
from torch.fx.passes.shape_prop import ShapeProp

from pyharness.fx import provenance, trace

if TYPE_CHECKING:
    from torch import fx


class Shapes(torch.fx.Interpreter):
    """An Interpreter that notes what each node gives."""

    def run_node(self, node: fx.Node) -> Any:
        """As Interpreter, with a note in ``node.meta``."""
        result = super().run_node(node)
        if isinstance(result, torch.Tensor):
            node.meta["shape"], node.meta["dtype"] = tuple(result.shape), result.dtype
        return result


def main() -> None:
    """Print a table; torch's own ShapeProp agrees, and fake tensors need no memory."""
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 30 * 30, 10))
    module = trace(model)
    Shapes(module).run(torch.randn(2, 3, 32, 32))
    for node in module.graph.nodes:
        print(f"{node.name:8} module {provenance.of(node).module or '-':3} {node.meta['shape']} {node.meta['dtype']}")
    ShapeProp(module).propagate(torch.randn(2, 3, 32, 32))
    nodes = list(module.graph.nodes)
    print("ShapeProp agrees:", all(node.meta["tensor_meta"].shape == node.meta["shape"] for node in nodes))
    with FakeTensorMode(allow_non_fake_inputs=True):
        Shapes(module).run(torch.empty(1_000_000, 3, 32, 32))
    print("a million images, without data:", module.graph.output_node().meta["shape"])


if __name__ == "__main__":
    main()

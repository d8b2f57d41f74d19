"""Which of several passes makes a wrong model: ``python examples/fx/bad_pass.py``.

The third pass folds a scale into the weight of the linear module before it, and forgets the bias.
"""

from __future__ import annotations

import operator

import torch
from torch import fx, nn

from pyharness.fx import bisect


class Net(nn.Module):
    """Two layers whose outputs are scaled."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(8, 8, bias=False)
        self.second = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(B, 8) to (B, 8)."""
        x = torch.relu(self.first(x) * 2.0)
        return torch.softmax(self.second(x) * 0.5 + 0, dim=-1)


def drop_additions_of_zero(graph: fx.Graph) -> None:
    """x + 0 is x."""
    for node in graph.find_nodes(op="call_function", target=operator.add):
        if node.args[1] == 0:
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)


def relu_as_clamp(graph: fx.Graph) -> None:
    """The same under another name."""
    for node in graph.find_nodes(op="call_function", target=torch.relu):
        node.target, node.kwargs = torch.clamp, {"min": 0.0}


def fold_scales(module: fx.GraphModule) -> fx.GraphModule:
    """(W x) * s is (s W) x; a bias would have to be scaled too."""
    for node in module.graph.find_nodes(op="call_function", target=operator.mul):
        layer = node.args[0]
        if layer.op == "call_module" and isinstance(node.args[1], float):
            module.get_submodule(layer.target).weight.data.mul_(node.args[1])
            node.replace_all_uses_with(layer)
            module.graph.erase_node(node)
    return module


def dead_code(module: fx.GraphModule) -> None:
    """What nothing uses goes."""
    module.graph.eliminate_dead_code()


PASSES = [drop_additions_of_zero, relu_as_clamp, fold_scales, dead_code]


def inputs() -> torch.Tensor:
    """An example."""
    return torch.linspace(-1, 1, 32).reshape(4, 8)


def main() -> None:
    """Find it, and shrink the graph to what it takes."""
    torch.manual_seed(0)
    print(bisect(Net(), PASSES, inputs(), script=False))


if __name__ == "__main__":
    main()

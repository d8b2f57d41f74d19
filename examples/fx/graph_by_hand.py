"""A graph built node by node, continued with proxies, its output wrapped: ``python examples/fx/graph_by_hand.py``."""

from __future__ import annotations

import torch
from torch import fx, nn

from pyharness.fx import trace, transform


def by_hand() -> fx.GraphModule:
    """``relu(x) + 1``: nodes first, then a proxy, on which operators and functions append nodes."""
    graph = fx.Graph()
    x = graph.placeholder("x")
    relu = graph.call_function(torch.relu, (x,))
    proxy = fx.Proxy(relu) + 1
    graph.output(torch.neg(proxy).node)
    return fx.GraphModule(nn.Module(), graph)


@transform("wrap_output")
def wrap_output(module: fx.GraphModule, function: str = "tanh") -> None:
    """Apply a function to what the graph returns."""
    output = module.graph.output_node()
    with module.graph.inserting_before(output):
        proxy = getattr(torch, function)(fx.Proxy(output.args[0]))
    output.args = (proxy.node,)


def main() -> None:
    """Print each code."""
    module = by_hand()
    print(module.code.strip())
    print(wrap_output(module, "sigmoid").code.strip())
    print(wrap_output(trace(nn.Linear(2, 2))).code.strip())
    print(wrap_output(module)(torch.zeros(2)))


if __name__ == "__main__":
    main()

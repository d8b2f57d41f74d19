"""Passes of the pages: what they call passes.py. As a script it makes a graph and recompiles it."""

import operator

import net
import torch
from torch import fx


def fuse(module: fx.GraphModule) -> fx.GraphModule:
    """Meant to be harmless; it swaps what is subtracted."""
    for node in module.graph.find_nodes(op="call_function", target=operator.sub):
        node.args = node.args[::-1]
    module.recompile()
    return module


def keep(module: fx.GraphModule) -> fx.GraphModule:
    return module


PASSES = [keep, fuse]


def scale_all(module: fx.GraphModule) -> fx.GraphModule:
    """Scales each activation; in which order, a set decides."""
    found = {node for node in module.graph.nodes if node.target in {torch.relu, torch.softmax}}
    for node in found:
        with module.graph.inserting_after(node):
            scaled = module.graph.call_function(torch.mul, (node, 2.0))
        node.replace_all_uses_with(scaled, lambda user, new=scaled: user is not new)
    module.recompile()
    return module


if __name__ == "__main__":
    model = fx.symbolic_trace(net.Net())
    fuse(model)(net.inputs())

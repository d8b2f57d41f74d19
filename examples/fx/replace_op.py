"""One op for another, three ways: ``python examples/fx/replace_op.py``."""

from __future__ import annotations

import torch
from torch import Tensor, fx

from pyharness.fx import replace, trace, transform


@transform("add_to_mul")
def add_to_mul(module: fx.GraphModule) -> None:
    """By hand: another target on the node itself. ``x + y`` and ``x.add(y)`` are other targets and stay."""
    for node in module.graph.find_nodes(op="call_function", target=torch.add):
        node.target = torch.mul


@transform("add_to_mul_nodes")
def add_to_mul_nodes(module: fx.GraphModule) -> None:
    """By hand: a new node beside the old one, which then goes."""
    for node in module.graph.find_nodes(op="call_function", target=torch.add):
        with module.graph.inserting_after(node):
            new = module.graph.call_function(torch.mul, node.args, node.kwargs)
        node.replace_all_uses_with(new)
        module.graph.erase_node(node)


def model(x: Tensor, y: Tensor) -> Tensor:
    """Three ways to add."""
    return torch.add(x, y).add(1) + y


def main() -> None:
    """Print the last line of each result's code; the traced module stays as it was."""
    module = trace(model)
    for name, made in {
        "traced": module,
        "add_to_mul": add_to_mul(module),
        "add_to_mul_nodes": add_to_mul_nodes(module),
        "replace(torch.add, torch.mul)": replace(module, torch.add, torch.mul),
    }.items():
        calls = [line.split(";")[0].split(" = ")[1] for line in made.code.split("\n") if " = " in line]
        print(f"{name:30} {' | '.join(calls)}")


if __name__ == "__main__":
    main()

"""Runs one pass on one small graph: exits with 1 while it fails, with 0 once it does not.

the_pass.py has the pass, graph_before the code and the weights of the graph, data.pt the inputs. To step through the
graph, and into the kernels that it calls: ``pyharness step reproduce.py --at fx:NODE --into``.
"""

from __future__ import annotations

import copy
import random
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import the_graph  # type: ignore[import-not-found]
import the_pass  # type: ignore[import-not-found]
import torch
from torch import fx

INPUTS = the_pass.DATA["inputs"]
BEFORE = the_graph.graph_module().state_dict()


def transformed(module: fx.GraphModule) -> fx.GraphModule:
    """The module after the pass, its code that of its graph."""
    result = the_pass.PASS(module.graph if the_pass.TAKES_GRAPH else module)
    result = getattr(result, "graph_module", result)  # a PassResult's
    if isinstance(result, fx.GraphModule):
        module = result
    elif isinstance(result, fx.Graph) and result is not module.graph:
        module.graph = result
    module.recompile()
    module.graph.lint()
    return module


def outcome(module: fx.GraphModule) -> list[Any]:
    """What a call returns, and what it leaves of its inputs and of the module's tensors."""
    torch.manual_seed(0)
    inputs = copied(INPUTS)
    result = module(*inputs)
    state = {name: tensor for name, tensor in module.state_dict().items() if name in BEFORE}
    changed = {name: tensor for name, tensor in state.items() if not torch.equal(tensor, BEFORE[name])}
    return [result, inputs, changed]


def copied(value: Any) -> Any:
    """A copy with storage of its own."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if isinstance(value, (tuple, list)):
        return type(value)(map(copied, value))
    return copy.deepcopy(value)


def check(before: fx.GraphModule, after: fx.GraphModule) -> None:
    """Raise where the pass made something else of the graph."""
    if the_pass.CHECK is None:
        torch.testing.assert_close(outcome(after), outcome(before), equal_nan=True)
        return
    good = the_pass.CHECK(before, after, copied(INPUTS)) if the_pass.COMPARES else the_pass.CHECK(after)
    if good is not None and not good:
        raise AssertionError("the check says no")


def holes(count: int) -> list[fx.Node]:
    """Nodes that lie between free places: where a pass walks a set of nodes, it then does so in another order."""
    graph = fx.Graph()
    nodes = [graph.placeholder("hole") for _ in range(2 * count)]
    random.shuffle(nodes)
    return nodes[count:]


def main() -> int:
    """Try as often as it takes, which is once where the pass makes the same graph each time."""
    if the_pass.PASS is None:
        print(f"Write the pass into {Path(__file__).with_name('the_pass.py')}: {the_pass.MISSING}")
        return 2
    for _ in range(the_pass.ATTEMPTS):
        kept = holes(len(the_graph.graph_module().graph.nodes)) if the_pass.ATTEMPTS > 1 else []
        before = the_graph.graph_module()
        try:
            check(before, transformed(the_graph.graph_module()))
        except Exception as error:  # noqa: BLE001  (whatever the pass, the graph or the check raises)
            print(f"It fails: {type(error).__name__}: {error}")
            return 1
        del kept
    print("It does not fail.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Which module and which line made each node: ``python examples/fx/provenance.py``.

After a call that raises, the module that was running before runs again; the record is on the node, so it is in every
copy of the graph, in what a ``Transformer`` makes of it, and in a pickle.
"""

from __future__ import annotations

import pickle
from pathlib import Path

import torch
from torch import Tensor, fx, nn

from pyharness.fx import provenance, remember, trace


class Careful(nn.Module):
    """Refuses what it is given."""

    def forward(self, x: Tensor) -> Tensor:
        """Fail, after one op."""
        x = torch.abs(x)
        raise NotImplementedError


class Block(nn.Module):
    """Tries one way, takes another."""

    def __init__(self) -> None:
        super().__init__()
        self.careful = Careful()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        """(..., 4) to (..., 4)."""
        try:
            return self.careful(x)
        except NotImplementedError:
            return torch.tanh(self.linear(x)) + x


def table(module: fx.GraphModule) -> None:
    """One line a node."""
    for node in module.graph.nodes:
        path, file, line = provenance.of(node)
        print(f"  {node.name:10} {path if path is not None else '-':12} {Path(file or '').name}:{line}")


def modules(module: fx.GraphModule) -> str:
    """The modules of the nodes, in order."""
    return " ".join(provenance.of(node).module or "-" for node in module.graph.nodes if node.op.startswith("call_"))


def main() -> None:
    """Print the record of a traced model, and of what was pickled."""
    module = trace(nn.Sequential(Block(), nn.ReLU()))
    print("node       module       line")
    table(module)
    copied = pickle.loads(pickle.dumps(module))  # noqa: S301  (our own)
    print("pickled:                      ", modules(copied))
    changed = fx.Transformer(module).transform()
    print("a Transformer's:              ", modules(changed))
    copied = pickle.loads(pickle.dumps(remember(changed)))  # noqa: S301
    print("a Transformer's, pickled:     ", modules(copied))


if __name__ == "__main__":
    main()

"""What each module computes and keeps, from an Interpreter: ``python examples/fx/interpreter.py``.

The classic of this kind prints times; pyharness has a recorder for those (``pyharness trace``). This one counts
multiplications and the bytes of activations, by the module that each node came from.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from pyharness.fx import provenance, trace

if TYPE_CHECKING:
    from torch import fx


class Profiler(torch.fx.Interpreter):
    """Runs a graph node by node."""

    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module)
        self.flops: Counter[str] = Counter()
        self.bytes: Counter[str] = Counter()

    def run_node(self, node: fx.Node) -> Any:
        """As Interpreter, and count."""
        with FlopCounterMode(display=False) as counter:
            result = super().run_node(node)
        path = provenance.of(node).module
        if path and isinstance(result, torch.Tensor):
            self.flops[path] += counter.get_total_flops()
            self.bytes[path] += result.nbytes
        return result


def main() -> None:
    """Print a table by module."""
    inner = nn.Sequential(nn.Linear(256, 256), nn.ReLU())
    model = nn.Sequential(nn.Linear(64, 256), nn.GELU(), inner, nn.Linear(256, 8))
    module = trace(model)
    profiler = Profiler(module)
    profiler.run(torch.randn(32, 64))
    print("module       flops   bytes")
    for path, count in profiler.flops.items():
        print(f"{path:6} {count:11,} {profiler.bytes[path]:7,}")


if __name__ == "__main__":
    main()

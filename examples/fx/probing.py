"""Values inside of a graph while it runs, and a stop before a node: ``python examples/fx/probing.py``.

``pyharness step examples/fx/probing.py --at probing.py:44 --continue --stack -- --stop`` stops on the generated line.
"""

from __future__ import annotations

import argparse

import torch
from torch import Tensor, nn

from pyharness.fx import Probed, breakpoint_before, materialize, probe, trace


class Model(nn.Module):
    """A log of what may be below 0."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        """(..., 4) to (..., 4)."""
        return torch.log(torch.relu(self.linear(x)) - 0.1)


def note(probed: Probed) -> None:
    """Print the range of what flows into a node."""
    low, high = torch.aminmax(probed.value)
    print(f"before {probed.node:8} [{low.item():.2f}, {high.item():.2f}]")


def main(*, stop: bool) -> None:
    """Probe every function, then stop where a logarithm is about to meet what it cannot take."""
    torch.manual_seed(0)
    module = trace(Model())
    x = torch.randn(3, 4)
    probed = probe(module, lambda node: node.op == "call_function", note)
    print(probed.code.strip())
    probed(x)
    stopping = breakpoint_before(module, "log", lambda probed: stop and bool((probed.value < 0).any()))
    materialize(stopping)
    stopping(x)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stop", action="store_true")
    main(stop=parser.parse_args().stop)

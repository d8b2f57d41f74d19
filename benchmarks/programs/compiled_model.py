"""A model that torch.compile's default backend compiles; says as JSON what its compilation and its run took.

python compiled_model.py [maps]      with ``maps`` inductor is followed as in a program that is debugged
"""

import json
import resource
import sys
import time

import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    """Norm, linear, gelu, gate, residual."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.linear = nn.Linear(width, width)
        self.gate = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """``[rows, width]``, the same size."""
        hidden = self.norm(x)
        return x + functional.gelu(self.linear(hidden)) * torch.sigmoid(self.gate(hidden))


class Model(nn.Module):
    """Blocks, each scaled by a number of its own, so that kernels differ."""

    def __init__(self, width: int = 64, count: int = 6) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(count))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Softmax over the last dimension, block by block."""
        for number, block in enumerate(self.blocks, 1):
            x = block(x) * (1 + 1 / number)
        return x.softmax(-1)


def used() -> tuple[float, float]:
    """Seconds of processor time of this process, and of its children."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time(), children.ru_utime + children.ru_stime


def main() -> None:
    """Compile, run, say what that took."""
    if "maps" in sys.argv:
        from pyharness.debuggee.watched import kernels

        kernels.install(lambda _wrapper: None)
    import torch._inductor.compile_fx  # imports are no compilation

    torch.set_num_threads(1)
    torch.manual_seed(0)
    model, x = torch.compile(Model()), torch.randn(64, 64)
    before = used()
    result = model(x).sum()
    print("forward", flush=True)
    result.backward()
    after = used()
    print(json.dumps({"python": after[0] - before[0], "compiler": after[1] - before[1]}), flush=True)


main()

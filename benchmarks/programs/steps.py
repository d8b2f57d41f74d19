"""Calls an op of an extension (its argument) in a loop, for ever: what the DAP benchmark steps through."""

import sys

import torch

torch.ops.load_library(sys.argv[1])  # type: ignore[no-untyped-call]  # @first


def half(tensor: torch.Tensor) -> torch.Tensor:
    """A function to step into."""
    halved = tensor / 2
    return halved  # noqa: RET504  (a line to step over)


x = torch.ones(20_000)
print("ready", flush=True)
turn = 0  # @loaded
while True:
    y = torch.ops.steps.scale(x, 2.0)  # @op
    turn += 1  # @after
    x = half(y)  # @call
    turn -= 1
    turn += 2

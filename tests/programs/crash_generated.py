"""Crashes in a function of an extension that a generated forward calls, with tensors and another thread about.

Usage: crash_generated.py [waits] (a byte on standard output when it waits in native code; it wants one byte).
"""

import os
import sys
import threading

import crossing
import torch
from torch import fx, nn

LIMIT = 7


@fx.wrap
def native(x, scale):
    sizes = {"rows": x.shape[0], "columns": x.shape[1]}
    if "waits" in sys.argv:
        os.write(1, b"w")
        crossing.wait_holding(0)  # @waits
    crossing.crash()  # @crash
    return x * scale, sizes


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.arange(6.0).reshape(2, 3))

    def forward(self, x):
        product = x * self.weight
        return native(product, 2.5)  # @forward


def aside(ready):
    here = [1, "two"]
    ready.set()
    threading.Event().wait()  # @aside
    return here


def main():
    ready = threading.Event()
    threading.Thread(target=aside, args=(ready,), name="aside", daemon=True).start()
    ready.wait()
    x = torch.full((2, 3), 0.5)
    fx.symbolic_trace(Net())(x)  # @main


main()

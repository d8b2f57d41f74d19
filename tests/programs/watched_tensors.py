"""Changes tensors of several dtypes as the letters on its standard input say; a kernel gets one of them.

Usage: watched_tensors.py KERNEL.so
"""

import os
import sys

import torch

torch.ops.load_library(sys.argv[1])
print("ready", flush=True)


class Uncopyable(torch.Tensor):
    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        if "clone" in str(function):
            raise LookupError("no clone")
        return function(*args, **(kwargs or {}))


def fails(call):
    try:
        call()
    except (RuntimeError, LookupError):
        return
    raise AssertionError


def kernel(x):
    aside, nowhere = os.open(os.devnull, os.O_RDWR), os.open(os.devnull, os.O_RDONLY)
    torch.ops.tensor_kernel.wait(x, [x], None, [1], [2], 1.5, aside, nowhere)  # @kernel


def main():
    x = torch.arange(12.0).reshape(4, 3)
    brain = torch.ones(2, 2, dtype=torch.bfloat16)
    counts = torch.tensor([1, 2, 3])
    grows = x.clone()
    turned = grows.t()
    model = torch.nn.Linear(2, 1)
    torch.nn.init.constant_(model.weight, 0.25)
    model(torch.tensor([2.0, 3.0])).backward()
    uncopyable = torch.Tensor._make_wrapper_subclass(Uncopyable, (2,))
    wait = torch.zeros(2)  # as the kernel is called
    for letter in iter(lambda: sys.stdin.read(1), ""):
        if letter == "k":
            kernel(x)
        elif letter == "x":
            x[3, 2] = 7.25  # @write_x
        elif letter == "a":
            grows.add_(1)  # @add
        elif letter == "b":
            brain[1, 0] = 3  # @write_brain
        elif letter == "i":
            counts[-1] -= 10  # @write_counts
        elif letter == "s":
            wait.fill_(0.5)  # @write_small
        elif letter == "e":
            fails(lambda: torch.ops.tensor_kernel.wait(x, [x], None, [1], [2], 1.5, -1, -1))
        elif letter == "p":
            fails(lambda: torch.ops.tensor_kernel.nesting(uncopyable, -1, -1))
        print("done", letter, flush=True)


main()
sys.exit(7)

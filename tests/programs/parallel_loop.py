"""Calls C++ that threads of OpenMP's run: a loop, one over a tensor, or what waits or crashes in it."""

import sys

import parallel


def shares(what):
    print("begin", flush=True)
    if what == "hold":
        parallel.hold(0)  # @hold
    elif what == "meet":
        parallel.meet(2)
    elif what == "nap":
        parallel.nap(4)  # @nap
    elif what == "scale":
        import torch

        x = torch.arange(8.0)
        parallel.scale(x.data_ptr(), len(x))
        print(x.sum().item())
    else:
        parallel.fault(3)  # @fault


if len(sys.argv) > 1:
    shares(sys.argv[1])
numbers = list(range(8))
total = parallel.total(len(numbers))  # @call
print(total)  # @printed

"""Calls C++ that threads of OpenMP's run: a loop, or what waits or crashes in it."""

import sys

import parallel


def shares(what):
    print("begin", flush=True)
    if what == "hold":
        parallel.hold(0)  # @hold
    else:
        parallel.fault(3)  # @fault


if len(sys.argv) > 1:
    shares(sys.argv[1])
numbers = list(range(8))
total = parallel.total(len(numbers))  # @call
print(total)

"""Calls a function of a small extension (in the folder that is its argument) in a loop, until it is ended."""

import sys

sys.path.insert(0, sys.argv[1])
import crossing  # type: ignore[import-not-found]

print("ready", flush=True)
number = 0
while True:
    number = crossing.call(number) % 1000  # @call
    number += 1  # @after
    number += 2

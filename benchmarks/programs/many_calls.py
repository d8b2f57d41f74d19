"""Calls one of an extension's 100,000 functions until it is ended."""

import sys

sys.path.insert(0, sys.argv[1])
import many  # type: ignore[import-not-found]

print("ready", flush=True)
number = 0
while True:
    number = many.call(number) % 1000  # @call
    number += 1

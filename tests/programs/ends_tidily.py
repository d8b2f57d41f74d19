"""Tidies up when it is asked to end: with exit code 5, or not at all where its argument says so."""

import signal
import sys

import crossing


def tidy(_number, _frame):
    print("asked", flush=True)
    if "stays" not in sys.argv:
        print("tidied", flush=True)
        sys.exit(5)


signal.signal(signal.SIGTERM, tidy)
print("works", flush=True)
while True:
    crossing.held(1)  # @works

"""Stands, waits and works where it is told to, and ends with exit code 7; where an argument names, it reads $PAUSES."""

import os
import signal
import sys

import crossing


def wait(place):
    print(place, flush=True)
    if place in sys.argv:
        with open(os.environ["PAUSES"]) as pauses:
            pauses.read()


def in_native_code(wait_there):
    print("in native code", flush=True)
    descriptor = os.open(os.environ["PAUSES"], os.O_RDWR)
    wait_there(descriptor)  # @waits


if "deaf" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
wait("python")
value = 1  # @python
value = crossing.held(value)  # @native
wait("stepping")  # @stepping
if "released" in sys.argv:
    in_native_code(crossing.wait_for)
if "holding" in sys.argv:
    in_native_code(crossing.wait_holding)
while "spin" in sys.argv:
    pass  # @spin
sys.exit(7)

"""Goes into C++ while a timer rings, and sends itself a signal whose handler is there."""

import os
import signal
import sys

import signalled

MILLISECOND = 1000


def work():
    total = signalled.count(1000)  # @counts
    return total  # @counted


def send():
    rings = signalled.send()  # @sends
    os.kill(os.getpid(), signal.SIGUSR1)  # @kills
    return rings  # @killed


if sys.argv[1] == "alarms":
    signalled.ring_every(MILLISECOND)
    print(work())
    signalled.ring_every(0)
else:
    print(send())

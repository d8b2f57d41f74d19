"""Sends itself SIGTRAP, from Python and from C++, and has a handler for it."""

import os
import signal
import sys

import crossing

caught = []


def send_all():
    for _ in range(3):
        os.kill(os.getpid(), signal.SIGTRAP)
    crossing.send(signal.SIGTRAP)  # @send
    signal.raise_signal(signal.SIGTRAP)  # @raise


def main():
    send_all()  # @all
    return len(caught)  # @sent


if "unhandled" not in sys.argv:
    signal.signal(signal.SIGTRAP, lambda *_: caught.append(1))
crossing.held(1)
print("caught", main(), flush=True)
sys.exit(7)

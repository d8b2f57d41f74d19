"""Saves what it has when it hears Ctrl-C, which takes longer than a moment."""

import time


def work(number):
    time.sleep(0.05)  # @work
    return number


try:
    for turn in range(2000):
        work(turn)
except KeyboardInterrupt:
    print("saving", flush=True)
    time.sleep(1.2)
    print("saved", flush=True)

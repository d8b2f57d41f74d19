"""Threads that do as they are told: one stands in native code, one keeps the GIL, one comes to native code."""

import os
import signal
import sys
import threading

import crossing

begin, mark, keep = (os.open(name, os.O_RDWR) for name in sys.argv[1:])
caught = []


def stand():
    value = crossing.released(3)  # @stand
    results.append(value)  # @stood


for number in (signal.SIGINT, signal.SIGUSR1):
    signal.signal(number, lambda *_: caught.append(1))
results = []
ticking = threading.Thread(target=crossing.tick_when_told, args=(mark, 5))
standing = threading.Thread(target=stand)
ticking.start()
standing.start()
crossing.wait_for(begin)
crossing.wait_holding(keep)
for thread in (ticking, standing):
    thread.join()
print("results", results, "caught", len(caught), flush=True)
sys.exit(7)

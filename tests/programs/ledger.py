"""Adds up what is written to it, in C and in Python; says what lies among its temporary files when it ends."""

import atexit
import os
import sys
import threading

import tally

atexit.register(lambda: print("temporary", os.listdir("/tmp")))


def heard(weight):
    return weight + 1  # @heard


def entry(number):
    total = tally.add(heard, number)  # @calls
    return total  # @after


def besides(go):
    go.wait()
    return entry(6)


go = threading.Event()
other = threading.Thread(target=besides, args=(go,), name="besides")
other.start()
print("ready", flush=True)
for line in sys.stdin:  # @waits
    if line == "besides\n":
        go.set()
        other.join()
    else:
        print(entry(int(line)), flush=True)
go.set()

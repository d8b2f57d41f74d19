"""Counts words; its argument says how it ends: a number is the exit code, `abort` a crash, `wait` waits for input."""

import os
import signal
import sys


def count(words):
    total = 0
    for word in words:
        total += len(word)  # @add
    return total  # @return


def end(how):
    if how == "abort":
        os.kill(os.getpid(), signal.SIGABRT)
    if how == "wait":
        print("waiting", flush=True)  # @waiting
        sys.stdin.readline()
    return int(how) if how.isdigit() else 0


words = ["to", "be", "or"]
nothing = None
letters = count(words)  # @call
print("letters:", letters)
sys.exit(end(sys.argv[1] if len(sys.argv) > 1 else "0"))  # @end

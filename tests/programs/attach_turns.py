"""Computes until its input ends, and looks how long its threads' turns are: with an interval of its own."""

import select
import sys

USUAL = 0.003


def ended():
    return bool(select.select([sys.stdin], [], [], 0)[0])


def turns():
    seen = set()
    while not ended():
        now = round(sys.getswitchinterval(), 4)
        seen.add(now)
        if now == USUAL:
            ended()  # @after
    return seen


sys.setswitchinterval(USUAL)
print("begin", flush=True)
turns()

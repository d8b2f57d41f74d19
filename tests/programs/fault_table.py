"""Comes to every kind of place again and again until its input ends; blocks where its argument says."""

import os
import select
import sys

import crossing


def ended():
    return bool(select.select([0], [], [], 0.002)[0]) and not os.read(0, 1)


def blocks(place):
    if place in sys.argv:
        print("doing", place, flush=True)
    return place in sys.argv


def turn(number):
    value = number + 1  # @python
    value = crossing.held(value)  # @native
    if blocks("reads"):
        value += len(os.read(0, 1))  # @reads
    if blocks("waits"):
        value += crossing.wait_for(0)  # @waits
    if blocks("holds"):
        value += crossing.wait_holding(0)  # @holds
    if blocks("inline"):
        value = (os.read(0, 1), value, crossing.held(1))[1]  # @inline
    return value  # @return


def never(value):
    return value  # @never


def left():
    monitoring = getattr(sys, "monitoring", None)
    return sys.gettrace() or (monitoring and monitoring.get_tool(monitoring.DEBUGGER_ID))


if __name__ == "__main__":
    print("begin", flush=True)
    turns = 0
    while not ended():
        right = turn(turns)
        assert 2 * (turns + 1) + 1 <= right <= 2 * (turns + 1) + 3, right
        turns += 1
    print("right, left:", left(), flush=True)
    sys.exit(7)

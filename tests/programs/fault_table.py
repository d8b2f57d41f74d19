"""Comes to every kind of place again and again until its input ends; blocks where its argument says."""

import os
import select
import signal
import sys
import threading

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
    """What a debugger has left here; ``None`` is a fresh program."""
    monitoring = getattr(sys, "monitoring", None)
    there = {
        "a trace function": sys.gettrace() or threading._trace_hook,
        "tools": any(monitoring and monitoring.get_tool(tool) for tool in range(6)),
        "threads": threading.active_count() > 1,
        "a thread held": any(getattr(info_of(thread), "pydev_state", 1) != 1 for thread in threading.enumerate()),
    }
    return [name for name, found in there.items() if found] or None


def info_of(thread):
    return getattr(thread, "additional_info", None)


def show_what_is_left(*_):
    print(f"has: {left()}", flush=True)


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, show_what_is_left)
    signal.siginterrupt(signal.SIGUSR1, False)  # noqa: FBT003
    print("begin", flush=True)
    turns = 0
    while not ended():
        right = turn(turns)
        assert 2 * (turns + 1) + 1 <= right <= 2 * (turns + 1) + 3, right
        turns += 1
    print("right, left:", left(), flush=True)
    sys.exit(7)

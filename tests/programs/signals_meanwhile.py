"""Handlers of signals that print, raise and exit while a debugger evaluates a condition at nearly every moment."""

import os
import signal
import sys
import threading


class Late(BaseException):  # noqa: N818  (what debugpy's own trace function does not take for a mistake of its)
    """The program's own time limit."""


def late(_number, _frame):
    raise Late


def tick(_number, _frame):
    ticks.append(len(ticks))
    sys.stdout.write(f"tick {len(ticks)}\n")


def works(number):
    return number + 1  # @works


def until(condition):
    number = 0
    while not condition():
        number = works(number)


ticks = []
signal.signal(signal.SIGALRM, late)
signal.signal(signal.SIGUSR1, tick)
for number in range(20):
    threading.Timer(0.01 * number, os.kill, [os.getpid(), signal.SIGUSR1]).start()
    until(lambda: len(ticks) > number)  # noqa: B023  (it is called here and now)
caught = 0
for _ in range(10):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        until(lambda: False)
    except Late:
        caught += 1
sys.stdout.write(f"caught {caught}\n")
sys.exit(7)

"""Runs a function whose lines have been passed often, and then stops in it; another thread runs it meanwhile."""

import sys
import threading

ended = False


def sums(count):
    total = 0
    for number in range(count):
        doubled = number * 2
        total += doubled  # @sums
        if number == count - 1:
            total += 1  # @rare
            total += 2  # @behind
    return total  # @returns


def beside():
    while not ended:
        sums(10)


thread = threading.Thread(target=beside, daemon=True)
if "beside" in sys.argv:
    thread.start()
first = sums(1000)  # @first
second = sums(1000)  # @second
ended = True
if "callbacks" in sys.argv:
    monitoring = sys.monitoring
    for event in monitoring.events.PY_START, monitoring.events.LINE:
        callback = monitoring.register_callback(monitoring.DEBUGGER_ID, event, None)
        monitoring.register_callback(monitoring.DEBUGGER_ID, event, callback)
        print(callback.__name__, flush=True)
print(first, second, flush=True)  # @end

"""Four threads cross into native code at once, made by Python or by the extension."""

import sys
import threading

import crossing

barrier = threading.Barrier(4)
results = []


def work(number):
    barrier.wait()
    value = crossing.released(number)  # @work
    results.append(value)


def alone(number):
    first = number + 1  # @alone
    crossing.repeat(50)  # @repeat
    return first  # @alone_return


def busy():
    while not ended.is_set():
        crossing.held(1)
        steps.append(1)


threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("results", sorted(results), flush=True)
crossing.in_threads(4)  # @in_threads
print("ticked", flush=True)
ended, steps = threading.Event(), []
other = threading.Thread(target=busy)
other.start()
print("alone", alone(1), flush=True)
ended.set()  # @ended
other.join()
sys.exit(7)

"""Opens the prompt in place, in the way that its argument names."""

import sys
import threading
import time

import pyharness


def total(values):
    result = 0
    for value in values:
        result += value
        breakpoint()
    return result  # @returns


def looped():
    print("total", total([1, 2, 3]))


def asked():
    pyharness.set_trace(header="look here")
    print("hi", input("name? "))  # @asks


def beside():
    thread = threading.Thread(target=lambda: time.sleep(0.3) or total([1]))
    thread.start()
    print("hi", input("name? "))
    thread.join()


def failed():
    try:
        divided(4)
    except ZeroDivisionError:
        pyharness.post_mortem()


def failed_before():
    kept = []
    try:
        divided(4)
    except ZeroDivisionError as error:
        kept.append(error)
    pyharness.post_mortem(kept[0].__traceback__)  # as pytest has that of a fixture


def divided(value):
    nothing = value - value
    return value / nothing  # @fails


def interrupted():
    breakpoint()
    try:
        print("spinning", flush=True)  # @spins
        while True:
            pass
    except KeyboardInterrupt:
        print("heard Ctrl-C")


def crossed():
    import crossing

    breakpoint()
    held = crossing.held(7)  # @crosses
    print(held)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    print("the end")

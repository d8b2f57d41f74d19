"""Calls each function of the test extension in turn."""

import sys

import crossing


def local(number):
    seen = number + 1  # @local
    return seen  # @local_return


def fails():
    try:
        crossing.fail("on purpose")  # @fail
    except RuntimeError as error:
        return str(error)  # @handler


def refuses(number):
    raise KeyError(number)  # @refuses


def guarded():
    try:
        crossing.call(refuses, 1)
    except KeyError:
        return 0


def element(number):
    return crossing.held(number)  # @element


def main():
    a = crossing.held(1)  # @held
    b = crossing.released(2)  # @released
    c = crossing.call(local, 3)  # @call
    d = sum((a, b, c))  # @nothing
    e = [element(n) for n in range(3)]  # @comprehension
    f = fails()  # @fails
    crossing.repeat(6)  # @repeat
    for number in range(6):
        g = crossing.held(number)  # @loop
    print(a, b, c, d, e, f, g, flush=True)  # @print
    guarded()
    sys.stdin.readline()


main()  # @main
sys.exit(7)

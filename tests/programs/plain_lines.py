"""Python alone: calls, a loop, an exception, a generator."""

import sys


def inner(x):
    y = x + 1  # @inner
    return y  # @inner_return


def outer(x):
    z = inner(x)  # @call
    try:
        fail(z)  # @fail
    except ValueError:
        z = -z  # @handler
    return z


def fail(x):
    raise ValueError(x)  # @raise


def numbers():
    yield 1  # @yield
    yield 2


def main():
    total = 0  # @main
    for index in range(3):
        total += outer(index)  # @loop
    total += sum(numbers())  # @sum
    print("total", total)  # @print


main()  # @start
sys.exit(3)  # @exit

"""Has native code call native code that calls Python: the script's, the standard library's, and what raises."""

import calendar

import crossing


def local(number):
    return number + 1


def refuses(number):
    raise KeyError(number)


def main():
    crossing.relay(local, 1)
    crossing.call(calendar.isleap, 1)  # @library
    try:  # @refused
        crossing.relay(refuses, 1)
    except KeyError:  # @handler
        return 0


main()

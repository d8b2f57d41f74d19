"""Has native code call native code that calls Python, which raises the second time."""

import crossing


def local(number):
    return number + 1


def refuses(number):
    raise KeyError(number)


def main():
    crossing.relay(local, 1)
    try:  # @refused
        crossing.relay(refuses, 1)
    except KeyError:  # @handler
        return 0


main()

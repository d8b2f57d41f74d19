"""Calls the extension that is built with -O2."""

import optimized


def main():
    found = optimized.total([1.0, 2.0, 3.0])  # @total
    print(found)  # @print


main()

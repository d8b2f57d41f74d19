"""Adds up what the library of begins_inlined.c, which is named, says of three values."""

import ctypes
import sys


def main():
    library = ctypes.CDLL(sys.argv[1])
    library.total.restype = ctypes.c_double
    values = (ctypes.c_double * 3)(1, 2, 3)
    start = ctypes.addressof(values)
    range_ = (ctypes.c_void_p * 2)(start, start + ctypes.sizeof(values))
    total = library.total(range_)  # @call
    print(round(total, 3))  # @behind


main()

"""Walks the kernel once for a debugger that breaks in it: LIBRARY COUNT; prints the nanoseconds of one call."""

import ctypes
import sys
import time

library = ctypes.CDLL(sys.argv[1])
library.walk.argtypes, library.walk.restype = [ctypes.c_long], ctypes.c_double
count = int(sys.argv[2])
library.walk(1)
started = time.perf_counter_ns()
library.walk(count)
print("ns", (time.perf_counter_ns() - started) / count, flush=True)

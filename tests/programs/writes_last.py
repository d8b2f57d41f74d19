"""Has the library given as its argument write a variable, once more as Python ends, and again as the process does."""

import atexit
import ctypes
import sys

library = ctypes.CDLL(sys.argv[1])
atexit.register(library.set_cell, 2)
library.set_cell(1)

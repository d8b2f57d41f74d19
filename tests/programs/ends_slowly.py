"""Closes what it finds open, debugpy's connection too, and takes three seconds to end: the C library sleeps its exit code."""

import ctypes
import os
import sys

libc = ctypes.CDLL(None)
libc.on_exit(libc.sleep, None)
code = 3  # @stop
os.closerange(3, 256)
sys.exit(code)

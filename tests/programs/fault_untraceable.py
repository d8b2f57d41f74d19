"""Forbids that anyone without CAP_SYS_PTRACE traces it, as a program that holds secrets does."""

import ctypes
import sys

PR_SET_DUMPABLE = 4
ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
import crossing

total = crossing.held(1)  # @native
print("total", total, flush=True)
sys.exit(7)

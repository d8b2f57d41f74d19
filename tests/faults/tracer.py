"""Traces the process PID, as another debugger would, until that ends: python tracer.py PID."""

import ctypes
import os
import sys

PTRACE_CONT, PTRACE_SEIZE = 7, 0x4206

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
if libc.ptrace(PTRACE_SEIZE, int(sys.argv[1]), None, None):
    sys.exit(os.strerror(ctypes.get_errno()))
print("traces", flush=True)
while os.WIFSTOPPED(os.waitpid(int(sys.argv[1]), 0)[1]):
    libc.ptrace(PTRACE_CONT, int(sys.argv[1]), None, None)

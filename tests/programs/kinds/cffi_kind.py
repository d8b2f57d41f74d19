"""Builds the module of cffi's API mode in the current folder."""

from cffi import FFI

DECLARED = "double scaled(double number, int by);\nint twice(int (*function)(int), int number);"
if __name__ == "__main__":
    builder = FFI()
    builder.cdef(DECLARED)
    builder.set_source("_cffi_kind", '#include "own.h"', sources=["own.c"], extra_compile_args=["-O0", "-g"])
    builder.compile()

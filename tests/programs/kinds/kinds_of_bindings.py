"""Calls the same two functions through one kind of bindings, which the first argument names."""

import sys

KIND = sys.argv[1]


def doubled(number):
    return 2 * int(number)  # @doubled


callback = doubled
if KIND == "ctypes":
    import ctypes

    own = ctypes.CDLL(sys.argv[2])
    own.scaled.argtypes, own.scaled.restype = [ctypes.c_double, ctypes.c_int], ctypes.c_double
    callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(doubled)
elif KIND == "cffi":
    from _cffi_kind import ffi
    from _cffi_kind import lib as own

    callback = ffi.callback("int(int)", doubled)
elif KIND == "cffi-abi":
    from cffi import FFI
    from cffi_kind import DECLARED

    ffi = FFI()
    ffi.cdef(DECLARED)
    own = ffi.dlopen(sys.argv[2])
    callback = ffi.callback("int(int)", doubled)
elif KIND == "swig":
    import swig_kind as own
elif KIND == "nanobind":
    import nanobind_kind as own
elif KIND == "cython":
    import cython_kind as own
elif KIND == "pyo3":
    import pyo3_kind as own
else:
    import rust_kind as own

found = own.scaled(5, 2)  # @scales
found += 1  # @after
if KIND not in {"swig"}:
    found += own.twice(callback, 3)  # @calls
found += 1  # @after_calls
if KIND in {"cython", "pyo3"}:
    found += own.Plain().method(1) if KIND == "cython" else own.Counter().step(1)  # @methods
print(found)

"""Has a thread that no Python made call Python, which raises: nobody is left to catch it."""

import ctypes

library = ctypes.CDLL(None)


@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
def body(_argument):
    way = "a thread of C"  # @begin
    raise ValueError(way)  # @fails


for _ in range(2):
    thread = ctypes.c_ulong()
    library.pthread_create(ctypes.byref(thread), None, body, None)
    library.pthread_join(thread, None)
print("end", flush=True)

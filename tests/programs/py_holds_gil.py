"""The main thread sleeps in C and keeps the GIL; another waits for it; a third was made in C and knows no Python."""

import ctypes
import json
import os
import threading

libc = ctypes.CDLL(None)
holding = ctypes.PyDLL(None)  # calls keep the GIL
libc.pthread_create.argtypes = [ctypes.c_void_p] * 4
thread = ctypes.c_ulong()
libc.pthread_create(ctypes.byref(thread), None, ctypes.cast(libc.pause, ctypes.c_void_p), None)


def spin():
    while True:
        pass


def hold():
    message = json.dumps({"pid": os.getpid()}).encode() + b"\n"
    libc.write(1, message, len(message))
    holding.read(0, ctypes.create_string_buffer(1), 1)  # @hold


threading.Thread(target=spin, daemon=True).start()
hold()

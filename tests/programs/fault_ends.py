"""Ends in a way that its arguments say, while its main thread loads an extension: exit or crash, at a line of stdin."""

import ctypes
import os
import sys
import threading


def end():
    sys.stdin.readline()
    if sys.argv[1] == "exit":
        os._exit(5)
    ctypes.string_at(0)


print("begun", flush=True)
threading.Thread(target=end, daemon=True).start()
import crossing

print(crossing.held(1), flush=True)
sys.stdin.readline()

"""Calls native code that holds the GIL while another thread of Python's wants it, always."""

import os
import threading

import crossing


def spin():
    while True:
        pass


threading.Thread(target=spin, daemon=True).start()
crossing.held(1)  # @held
crossing.held(2)  # @next
os._exit(0)

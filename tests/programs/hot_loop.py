"""Two threads call getppid for ever; answers each line of stdin with what it has done. --unguarded: without the guard."""

import os
import sys
import threading

from pyharness.native import healed_traps, install_trap_guard

calls = [0, 0]
wrong = 0


def call_for_ever(index):
    global wrong
    parent = os.getppid()
    while True:
        wrong += os.getppid() != parent
        calls[index] += 1


if "--unguarded" not in sys.argv:
    install_trap_guard()
for index in range(2):
    threading.Thread(target=call_for_ever, args=(index,), daemon=True).start()
print("ready", flush=True)
for _ in sys.stdin:
    os.getpgrp()
    print(*calls, wrong, healed_traps(), flush=True)

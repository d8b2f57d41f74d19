"""A thread that watches its own registers or waits in a system call; it runs LIBRARY, in the way of the next argument.

Each line of stdin is answered: ``go`` lets what a debugger called return, all say the rounds and what was wrong in them.
"""

import ctypes
import os
import sys
import threading

from pyharness.native import install_trap_guard

library = ctypes.CDLL(sys.argv[1])
if "--unguarded" not in sys.argv:
    install_trap_guard()
has_avx = " avx " in open("/proc/cpuinfo").read()  # noqa: PTH123, SIM115
inlet, outlet = os.pipe()
called, returns = os.pipe()


def answer():
    while line := sys.stdin.readline():
        os.write(returns if line == "go\n" else outlet, b".")
        counts = [ctypes.c_long.in_dll(library, name).value for name in ("rounds", "wrong")]
        print(*counts, flush=True)
    os._exit(0)


ctypes.c_int.in_dll(library, "held").value = called if "slow" in sys.argv else -1
print("ready", flush=True)
threading.Thread(target=answer, daemon=True).start()
if sys.argv[2] == "keeps":
    library.keep_for_ever(has_avx)
library.wait_for_ever(inlet)

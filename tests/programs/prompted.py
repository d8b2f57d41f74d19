"""Something to look at from the prompt: a loop, a class, and what its arguments ask for."""

import os
import signal
import sys
import time


class Box:
    def __init__(self, content):
        self.content = content


def total(values, scale=2):
    result = 0
    for value in values:  # @loop
        result += value * scale  # @add
    return result  # @returns


def main():
    box = Box({"deep": [1, 2]})  # @main
    print("hello")
    found = total([1, 2, 3])  # @call
    for word in sys.argv[1:2]:
        ASKED[word](box)  # @asked
    print("total", found)  # @last


def ask(_box):
    print("hi", input("name? "))


def spin(_box):
    count = 0
    while count >= 0:
        count += 1  # @spins
        if count == 1:
            print("spinning")


def sleep(_box):
    import subprocess
    import threading

    waits = f"until grep -Eq 'sleep|select|poll' /proc/$PPID/task/{threading.get_native_id()}/wchan; do :; done"
    # Only the kernel knows when a thread is in a system call; a thread that looks would run Python when the pause comes.
    subprocess.Popen(["sh", "-c", f"{waits}; echo sleeping"])
    time.sleep(600)  # @sleeps


def fail(box):
    raise ValueError(f"no {box.content}")  # @fails


def midline(_box):
    print("50%", end="", flush=True)
    time.sleep(0)  # @midline


def interrupted(_box):
    def heard(_number, _frame):
        print("heard Ctrl-C")
        raise SystemExit(0)

    signal.signal(signal.SIGINT, heard)
    spin(_box)


def binary(_box):
    os.write(1, bytes(range(128, 256)) + b"\x1b[31m\n")


def close_terminal(_box):
    for stream in range(3):
        os.close(stream)
    sys.stdout = sys.stderr = open(os.devnull, "w")


def fork(_box):
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    print("forked")


def become(_box):
    sys.stdout.flush()
    os.execvp("echo", ["echo", "another program"])


def free_twice(_box):
    import ctypes

    import numpy  # noqa: F401  (a library that is neither Python's nor the user's)

    libc = ctypes.PyDLL(None)
    libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    memory = libc.malloc(64)
    libc.free(memory)
    libc.free(memory)  # @freed


def ends_by_itself(_box):
    with open(sys.argv.pop(), "w") as told:
        told.write("it ran on")


ASKED = {
    each.__name__: each
    for each in (ask, spin, sleep, fail, midline, interrupted, binary, fork, become, free_twice, ends_by_itself)
}
ASKED["close"] = close_terminal

if __name__ == "__main__":
    main()

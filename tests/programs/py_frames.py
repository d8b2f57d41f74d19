"""Stops in a callback under qsort, under a generator, under a coroutine; says how Python itself sees its stacks.

Prints one JSON object: for each thread, innermost first, [function, line] of every frame; then waits for a line.
"""

import asyncio
import ctypes
import json
import os
import sys
import threading
import time

HERE = os.path.abspath(__file__)
Compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
libc = ctypes.CDLL(None)
waiting = threading.Event()
never = threading.Lock()
never.acquire()


def name_of(code):
    return getattr(code, "co_qualname", code.co_name)


def walk(frame):
    while frame:
        yield [name_of(frame.f_code), os.path.abspath(frame.f_code.co_filename) == HERE, frame.f_lineno]
        frame = frame.f_back


def told():
    main = threading.main_thread().ident
    frames = sys._current_frames()
    return {"main": list(walk(frames[main])), "other": [list(walk(f)) for t, f in frames.items() if t != main]}


class Deep:
    def __init__(self, depth):
        self.depth = depth
        stop(depth)


def stop(depth):
    number, big, text, raw = -7, 2**70, "hé€", b"\x00ab"
    floating, nothing, truth = 1.5, None, True
    several, pair, table, unique = [1, [2, [3, [4]]]], ("a",), {"k": 1, 2: None}, {9}
    long = "x" * 100
    in_cell = "cell"
    later = lambda: in_cell
    if depth:
        return Deep(depth - 1)
    print(json.dumps({"pid": os.getpid(), "version": sys.version_info[:2], **told()}), flush=True)
    sys.stdin.readline()  # @stop
    os._exit(0)


def generate():
    yield stop(2)  # @generator


async def inner():
    list(generate())  # @coroutine


async def outer():
    await inner()


def compare(left, right):
    asyncio.run(outer())  # @compare
    return 0


def wait_here():
    waiting.set()
    never.acquire()  # @thread


def main():
    thread = threading.Thread(target=wait_here, daemon=True)
    thread.start()
    waiting.wait()
    while sys._current_frames()[thread.ident].f_lineno != wait_here.__code__.co_firstlineno + 2:
        time.sleep(0)
    numbers = (ctypes.c_int * 2)(2, 1)
    libc.qsort(numbers, 2, 4, Compare(compare))  # @qsort


main()

"""Loops, calls, threads and exceptions in a program in which nothing stops: FILE gets the CPU seconds of each.

What it measures is what a debugger costs while nobody looks, so every case is the worst of its kind: a line, a function
and a thread that do next to nothing. No such line makes an object, its integers are those that Python keeps ready: to
make and drop one takes up to 15 % longer where the allocator's pool in use has one free place, which is the chance of
what was made before. With the word ``door`` behind FILE something stands where frames begin (PEP 523), and goes on at
once: what the interpreter itself takes for asking.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import struct
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LOOPS, CALLS, TIMES = 4_000_000, 300_000, 9  # Python 3.11 specializes a function when it is called for the 8th time


def loops() -> int:
    """A line that does next to nothing."""
    total = 0
    for _ in range(LOOPS // 100):
        for number in range(100):
            total = number + number
    return total


def next_of(number: int) -> int:
    """A function that does next to nothing."""
    return number + 1


def calls() -> int:
    """Call it."""
    following = 0
    for _ in range(CALLS // 100):
        for number in range(100):
            following = next_of(number)
    return following


def threads() -> None:
    """The loop, on two threads that Python starts."""
    both = [threading.Thread(target=loops) for _ in range(2)]
    for each in both:
        each.start()
    for each in both:
        each.join()


def fails() -> None:
    """Raise."""
    raise LookupError


def exceptions() -> int:
    """The loop, in a thousand parts, an exception in front of each."""
    total = 0
    for _ in range(1_000):
        with suppress(LookupError):
            fails()
        for _ in range(LOOPS // 100_000):
            for number in range(100):
                total = number + number
    return total


def beneath_breakpoint(*, stop: bool = False) -> int:
    """Loop with exceptions, called by a function with a breakpoint at a line that does not run."""
    if stop:
        return 0  # @beneath
    return exceptions()


def has_breakpoint(*, stop: bool = False) -> int:
    """Loop and call, in a function with a breakpoint at a line that does not run."""
    if stop:
        return 0  # @breakpoint
    total = 0
    for _ in range(LOOPS // 4_000):
        for number in range(100):
            total = next_of(number)
    return total


def empty_door() -> mmap.mmap:
    """Have each frame begin with a jump to where frames begin."""
    api = ctypes.pythonapi
    begin = ctypes.cast(api["_PyEval_EvalFrameDefault"], ctypes.c_void_p).value
    code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(struct.pack("<2sQ2s", b"\x48\xb8", begin, b"\xff\xe0"))  # mov rax, begin; jmp rax
    here = ctypes.addressof(ctypes.c_char.from_buffer(code))
    api.PyInterpreterState_Main.restype = ctypes.c_void_p
    api["_PyInterpreterState_SetEvalFrameFunc"](ctypes.c_void_p(api.PyInterpreterState_Main()), ctypes.c_void_p(here))
    return code


def seconds(function: Callable[[], object]) -> float:
    """CPU time of one call, of all threads."""
    started = time.process_time()
    function()
    return time.process_time() - started


if __name__ == "__main__":
    code = empty_door() if "door" in sys.argv else None
    every = (loops, calls, threads, beneath_breakpoint, has_breakpoint)
    cases = {each.__name__: min(seconds(each) for _ in range(TIMES)) for each in every}
    Path(sys.argv[1]).write_text(json.dumps(cases), encoding="utf-8")

"""Says of its frames whether the interpreter looks for a trace function in them, on the Pythons that do so by thread.

What asks is C alone: a function of Python's would be a frame of its own.
"""

import sys
import threading
from ctypes import c_uint8, c_void_p, pythonapi

CFRAME = {(3, 10): 48, (3, 11): 56}[sys.version_info[:2]]
"""``offsetof(PyThreadState, cframe)``; ``use_tracing`` is the first field of a ``_PyCFrame``."""
state = pythonapi.PyThreadState_Get
state.restype = c_void_p


def plain():
    return bool(c_uint8.from_address(c_void_p.from_address(state() + CFRAME).value).value)


def placed(run=False):
    if run:
        return "ran"  # @placed
    within = plain()
    return bool(c_uint8.from_address(c_void_p.from_address(state() + CFRAME).value).value), within


def numbers(count):
    for number in range(count):
        yield number  # @number


def fails():
    raise LookupError("there")


def down(levels):
    return placed(run=True) if levels == 0 else down(levels - 1)


def in_thread(function):
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def look():
    begun = numbers(2)
    next(begun)
    print("plain", plain(), in_thread(plain), flush=True)
    print("placed", *placed(), *in_thread(placed), flush=True)
    try:
        fails()
    except LookupError:
        print("caught", plain(), flush=True)
    print("here", bool(c_uint8.from_address(c_void_p.from_address(state() + CFRAME).value).value), flush=True)
    return begun  # @looked


def own_trace():
    seen = []
    before = sys.gettrace()
    sys.settrace(lambda frame, event, _argument: seen.append((frame.f_code.co_name, event)))
    plain()
    sys.settrace(before)
    seen_by_profile = []
    sys.setprofile(lambda frame, event, _argument: seen_by_profile.append((frame.f_code.co_name, event)))
    plain()
    sys.setprofile(None)
    print("own", ("plain", "call") in seen, ("plain", "return") in seen_by_profile, plain(), flush=True)


rest = look()  # @first
print("rest", *rest, flush=True)
look()  # @second
print("module", bool(c_uint8.from_address(c_void_p.from_address(state() + CFRAME).value).value), flush=True)
own_trace()
placed(run=True)
sys.setrecursionlimit(100_000)
down(50_000 if sys.version_info >= (3, 11) else 500)  # @down
print("end", flush=True)

"""Says of its frames whether the interpreter looks for a trace function in them, while and after torch compiles."""

import sys
from ctypes import c_uint8, c_void_p, pythonapi

import torch

CFRAME = {(3, 10): 48, (3, 11): 56}[sys.version_info[:2]]
"""``offsetof(PyThreadState, cframe)``; ``use_tracing`` is the first field of a ``_PyCFrame``."""
state = pythonapi.PyThreadState_Get
state.restype = c_void_p


def plain():
    return bool(c_uint8.from_address(c_void_p.from_address(state() + CFRAME).value).value)


def backend(module, _inputs):
    print("compiles", plain(), flush=True)

    def run(*arguments):
        print("runs", plain(), flush=True)
        return module.forward(*arguments)

    return run


def double(x):
    return x * 2


compiled = torch.compile(double, backend=backend)
for size in (2, 3):
    compiled(torch.ones(size))
    print("after", plain(), flush=True)

"""Three threads that wait in a backward: of a generated node, of a Python function, of a C++ node in another one.

Each writes a byte to standard output when it waits, and waits for a byte on standard input. Part of tensor_zoo.py.
"""

import os
import threading

import torch
from torch.utils._python_dispatch import TorchDispatchMode


def wait():
    os.write(1, b"r")
    os.read(0, 1)


class WaitInMultiply(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function is torch.ops.aten.mul.Tensor:
            wait()  # @generated
        return function(*args, **(kwargs or {}))


class Waits(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        wait()  # @python
        return gradient * 2


def generated():
    x = torch.rand(3, requires_grad=True)
    result = (x * x).sum()
    with WaitInMultiply():
        result.backward()


def python():
    x = torch.rand(3, requires_grad=True)
    Waits.apply(x).sum().backward()


def cpp():
    x = torch.rand(3, requires_grad=True)
    torch.ops.tensor_kernel.nesting(x, 1, 0).sum().backward()


def start():
    for function in (generated, python, cpp):
        threading.Thread(target=function).start()

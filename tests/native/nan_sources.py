"""Functions that each make one bad value, at the line that ends with ``# @NAME``; for test_find_nan.py."""

import threading

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import pyharness
from kit import marks
from pyharness.model.results.finding import NonFiniteError


def line_of(name):
    return marks.line_of(name, __file__)


class Logarithm(nn.Module):
    def forward(self, x):
        return torch.log(x)  # @log


class Plain(nn.Module):
    def forward(self, x):
        return x * 2


class Root(nn.Module):
    def forward(self, x):
        return torch.where(x > 0, x.sqrt(), 0)  # @root


class Blocks(nn.Module):
    """The one in the middle is where it happens: path ``blocks.1.inner``."""

    def __init__(self, bad):
        super().__init__()
        self.blocks = nn.ModuleList([self.block(Plain()), self.block(bad), self.block(Plain())])

    @staticmethod
    def block(inner):
        block = nn.Sequential()
        block.add_module("inner", inner)
        return block

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Checkpointed(nn.Module):
    def __init__(self, bad, *, reentrant):
        super().__init__()
        self.part = Blocks(bad)
        self.reentrant = reentrant

    def forward(self, x):
        return checkpoint(self.part, x * 1, use_reentrant=self.reentrant)


class PythonRoot(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sqrt()

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        half = x.sqrt() * 2
        return grad * 0 / half  # @python-backward


def logarithm(x):
    return torch.log(x)  # @plain-log


def overflow():
    x = torch.full((4, 8), 3e38, dtype=torch.bfloat16)
    x[1, 2] = 1
    return x + x  # @overflow


def in_place():
    x = torch.tensor([4.0, 1.0, -1.0])
    x.mul_(2)
    x.sqrt_()  # @in-place
    return x + 1


def out_argument():
    out = torch.full((3,), float("nan"))
    torch.log(torch.tensor([1.0, -1.0, 2.0]), out=out)  # @out
    return out


def for_each():
    many = [torch.ones(3), torch.tensor([1.0, -1.0])]
    torch._foreach_sqrt_(many)  # @for-each
    return many


def in_worker(errors):
    def work():
        try:
            torch.ones(3).sub(2).log()  # @worker
        except RuntimeError as error:
            errors.append(error)

    worker = threading.Thread(target=work, name="worker")
    worker.start()
    worker.join()


def nested():
    return torch.nn.functional.linear(torch.ones(2, 3) * 1e38, torch.ones(4, 3) * 10)  # @nested


def operator():
    x = torch.zeros(3)
    y = x / x  # @operator
    z = y + 1
    return z.sum()


def accumulation():
    """Gradients that are meant to be infinite meet where the engine adds those of ``shared``."""
    x = torch.ones(3, requires_grad=True)
    shared = x * 1  # @shared
    infinite = torch.full((3,), float("inf"))
    torch.autograd.backward([shared * 1, shared * 1], [infinite, -infinite])


def last_returned():
    x = torch.zeros(3)
    with pyharness.find_nan():
        return x / x  # @last-returned


def last_several_lines():
    x = torch.zeros(3)
    with pyharness.find_nan():
        return [
            1,
            x / x,  # @last-several_lines
            2,
        ]


def last_handled():
    x = torch.zeros(3)
    with pyharness.find_nan():
        try:
            y = x / x  # @last-handled
        except NonFiniteError as error:
            raise error from None
    return y


def last_in_a_generator():
    def values():
        x = torch.zeros(3)
        yield x
        yield x / x  # @last-in_a_generator

    with pyharness.find_nan():
        return list(values())


def last_nested_with():
    x = torch.zeros(3)
    with pyharness.find_nan(), torch.no_grad():
        x / x  # @last-nested_with

"""What loss.backward() runs: a Python Function, a hook, a C++ one."""

import torch

from pyharness import ops


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        scaled = gradient * 2  # @python_backward
        return scaled  # @python_return


def hook(gradient):
    seen = gradient.sum()  # @hook
    return gradient


def python_function(x):
    y = Scale.apply(x)
    y.sum().backward()  # @python
    return x.grad  # @after_python


def python_hook(x):
    y = x * 3
    y.register_hook(hook)
    y.sum().backward()  # @hooked
    return x.grad  # @after_hooked


def cpp_function(x):
    y = ops.rms_norm(x, torch.ones(4))
    y.sum().backward()  # @cpp
    return x.grad  # @after_cpp


for run in (python_function, python_hook, cpp_function):
    run(torch.arange(4.0, requires_grad=True))
print("done", flush=True)

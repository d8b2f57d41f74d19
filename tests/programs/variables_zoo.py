"""Variables of every kind in Python and C++, looked at while a kernel waits that holds the GIL.

Usage: variables_zoo.py KERNEL.so TABLE.json (a byte on standard output when it waits; it wants one byte).
"""

import json
import sys
from collections import OrderedDict, namedtuple
from dataclasses import dataclass

import torch

import pyharness.ops  # noqa: F401  (registers them)

Point = namedtuple("Point", "x y")
LIMIT = 7


@dataclass(slots=True)
class Slotted:
    width: int
    label: str


class Plain:
    kind = "plain"

    def __init__(self):
        self.first = 1
        self.second = {"k": torch.arange(3.0), 5: "five", (1, 2): None}

    @property
    def computed(self):
        return self.first + 1


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 0.5
        self.weight = torch.nn.Parameter(torch.arange(6.0).reshape(2, 3))
        self.register_buffer("mean", torch.tensor([1.0, 2.0]))
        self.inner = torch.nn.Linear(2, 2, bias=False)

    def forward(self, x):
        points = [Point(1, 2.5), Point(3, None)]
        numbers = list(range(250))
        words = {"one", "two"}
        slotted = Slotted(3, "wide")
        plain = Plain()
        ordered = OrderedDict(a=1, b=[2])
        product = x * self.weight
        total = product.sum()
        node = product.grad_fn
        doubled = Twice.apply(x)
        custom = doubled.grad_fn
        fused = torch.ops.pyharness.rms_norm(x, self.weight[0], 1e-6)
        cxx = fused.grad_fn
        tensors = zoo()
        say(tensors)
        y = torch.ops.tensor_kernel.wait(product, [product, x], x, [2, 3], [4, 5], 1.5, 1, 0)  # @forward
        return y, points, numbers, words, slotted, plain, ordered, total, node, custom, cxx, tensors


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.factor = 2
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


def zoo():
    huge = torch.zeros(100_000_000, dtype=torch.uint8)
    huge[-1] = 7
    freed = torch.arange(4.0)
    freed.untyped_storage().resize_(0)
    with_grad = torch.ones(2, requires_grad=True)
    (with_grad * 3).sum().backward()
    return {
        "scalar": torch.tensor(3.5),
        "empty": torch.empty(0, 3),
        "huge": huge,
        "half": torch.tensor([1.0, -2.5, 3.140625], dtype=torch.bfloat16),
        "float16": torch.tensor([[1.0, float("inf")], [float("nan"), -2.0]], dtype=torch.float16),
        "integers": torch.arange(-5, 5),
        "booleans": torch.tensor([True, False]),
        "complex": torch.tensor([1 + 2j, 3 - 4j]).conj(),
        "transposed": torch.arange(12.0).reshape(3, 4).t(),
        "cube": torch.arange(24.0).reshape(2, 3, 4),
        "sparse": torch.tensor([[0.0, 1.0], [2.0, 0.0]]).to_sparse(),
        "meta": torch.empty(3, 4, device="meta"),
        "quantized": torch.quantize_per_tensor(torch.tensor([-1.0, 0.0, 1.0]), 0.25, 3, torch.quint8),
        "freed": freed,
        "with_grad": with_grad,
        "result": with_grad * 2,
        "expanded": torch.ones(1).expand(1 << 40),
        "deep": torch.ones([2] * 12),
        "float8": torch.tensor([0.5, 448.0]).to(torch.float8_e4m3fn),
    }


def say(tensors):
    if len(sys.argv) < 3:
        return
    with open(sys.argv[2], "w") as stream:
        json.dump({name: tensor._cdata for name, tensor in tensors.items()}, stream)


def main():
    if len(sys.argv) > 1:
        torch.ops.load_library(sys.argv[1])
    x = torch.ones(2, 3, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        made = x + 1  # @made
    net = Net()
    return net(made)


if __name__ == "__main__":
    main()

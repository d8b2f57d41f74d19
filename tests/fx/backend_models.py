"""Models for the backend's tests: each with calls to compare with eager, and what torch.compile is told."""

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint


class Counting(nn.Module):
    """Buffers that change, dropout, a branch on the mode."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.norm = nn.BatchNorm1d(8)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls += 1
        return functional.dropout(self.norm(self.linear(x)), 0.3, self.training)


class Recomputed(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        return checkpoint(lambda y: self.linear(y).sin(), x, use_reentrant=False)


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return 2 * x * gradient


class Outputs(nn.Module):
    """Nested outputs, and a constant among them."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(8))

    def forward(self, x, *, scale=2.0):
        y = Square.apply(x * self.weight)
        return {"y": y, "parts": (y.sum() * scale, [x.detach() + 1]), "name": "outputs"}


def written(x, y):
    x.add_(1)
    y[0] = 3
    return x @ y.T, x.view(-1)[:2]


class Branch(nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))


class Broken(nn.Module):
    """A graph break in a submodule, and one on a value."""

    def __init__(self):
        super().__init__()
        self.inner = Printing()
        self.head = nn.Linear(8, 2)
        self.factor = 2

    def forward(self, x):
        x = self.inner(x) * self.factor  # @factor
        if x.sum() > 0:  # @branch
            x = x + 1
        return self.head(x)


class Printing(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        x = self.linear(x)
        print(end="")  # @print
        return x.relu()  # @relu


def looping(x):
    for _ in range(2):
        x = x.sin()
        print(end="")  # @loop
    return x + 1


def points(rows, seed=0):
    return torch.randn(rows, 8, generator=torch.Generator().manual_seed(seed))


CASES = {
    "buffers and dropout": (Counting, [(points(4),), (points(4, 1),)], {}),
    "no aot": (Counting, [(points(4),)], {"options": {"aot": False}}),
    "sizes": (Counting, [(points(rows),) for rows in (3, 5, 6)], {"dynamic": True}),
    "evaluation": (lambda: Counting().eval(), [(points(4),)], {"options": {"partition": "min_cut"}}),
    "checkpoint": (Recomputed, [(points(4),)], {"options": {"partition": "min_cut"}}),
    "nested outputs": (Outputs, [(points(4),)], {"options": {"decompositions": "core_aten"}}),
    "inputs written to": (lambda: written, [(points(4), points(4))], {"mode": "default"}),
    "either branch": (Branch, [(points(4).abs(),), (-points(4).abs(),)], {}),
    "graph breaks": (Broken, [(points(4),), (-points(4),), (points(6),)], {}),
}

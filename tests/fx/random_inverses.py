"""Random graphs of invertible steps: an affine one before each brings its operand into its domain."""

import math
import operator
import random

import torch
from torch import fx, nn

RANGES = {
    "sin": (-1.4, 1.4), "cos": (0.2, 2.9), "tan": (-1.2, 1.2), "asin": (-0.9, 0.9), "acos": (-0.9, 0.9),
    "atan": (-2, 2), "arctan": (-2, 2), "sinh": (-2, 2), "cosh": (0.2, 2), "tanh": (-1.5, 1.5), "asinh": (-3, 3),
    "acosh": (1.1, 4), "atanh": (-0.9, 0.9), "exp": (-2, 2), "exp2": (-2, 2), "expm1": (-1, 2), "log": (0.1, 5),
    "log2": (0.1, 5), "log10": (0.1, 5), "log1p": (-0.8, 4), "sqrt": (0.1, 5), "rsqrt": (0.2, 5),
    "square": (0.1, 3), "reciprocal": (0.2, 4), "neg": (-3, 3), "negative": (-3, 3), "positive": (-3, 3),
    "clone": (-3, 3), "sigmoid": (-3, 3), "erf": (-1.5, 1.5), "erfinv": (-0.9, 0.9), "logit": (0.1, 0.9),
}  # fmt: skip
"""Where each function is tried; a part of its domain."""

MODULES = {
    nn.Sigmoid: (-3, 3), nn.Tanh: (-1.5, 1.5), nn.Softplus: (-3, 3), nn.LogSigmoid: (-3, 3), nn.Softsign: (-3, 3),
    nn.LeakyReLU: (-3, 3), nn.ELU: (-2, 2), nn.Identity: (-3, 3),
}  # fmt: skip


class Builder:
    """A graph of one input, and the range of its last value."""

    def __init__(self, seed):
        self.random = random.Random(seed)  # noqa: S311  (tests repeat)
        self.root = nn.Module()
        self.graph = fx.Graph()
        self.input = self.graph.placeholder("x")
        self.low = self.random.uniform(-3, 2)
        self.high = self.low + self.random.uniform(0.5, 2)
        self.values = torch.linspace(self.low, self.high, 41, dtype=torch.float64)
        self.points = self.values.clone()
        self.last = self.input

    def module(self, steps):
        """The GraphModule of ``steps`` random steps; ``points`` are inputs in its domain."""
        for _ in range(steps):
            self.random.choice([self.function, self.function, self.layer, self.power, self.base])()
        self.graph.output(self.last)
        return fx.GraphModule(self.root, self.graph)

    def function(self):
        name = self.random.choice(list(RANGES))
        self.bring(*RANGES[name])
        function = getattr(torch, name, None) or getattr(torch.special, name)
        if self.random.random() < 0.5:
            self.step(self.graph.call_function(function, (self.last,)), function)
        elif self.random.random() < 0.5:
            self.step(self.graph.call_method(name, (self.last,)), function)
        else:
            aten = getattr(torch.ops.aten, name).default
            self.step(self.graph.call_function(aten, (self.last,)), aten)

    def layer(self):
        kind = self.random.choice(list(MODULES))
        self.bring(*MODULES[kind])
        made, name = kind(), f"layer_{len(self.graph.nodes)}"
        self.root.add_module(name, nn.Sequential(made) if self.random.random() < 0.3 else made)
        self.step(self.graph.call_module(name, (self.last,)), made)

    def power(self):
        exponent = self.random.choice([3, 2, 0.5, -1, -2.5, 5])
        self.bring(0.3, 2)
        self.step(*self.called("pow", operator.pow, (self.last, exponent), lambda x: x**exponent))

    def base(self):
        base = self.random.choice([0.5, 2, math.e])
        self.bring(-2, 2)
        called = self.random.choice([torch.pow, operator.pow])
        self.step(self.graph.call_function(called, (base, self.last)), lambda x: base**x)

    def bring(self, low, high):
        """Affine steps from the present range to (low, high), either way around."""
        if self.random.random() < 0.3:
            low, high = high, low
        now_low, now_high = self.values.min().item(), self.values.max().item()
        factor = (high - low) / (now_high - now_low)
        self.scale(factor)
        self.shift(low - now_low * factor)

    def scale(self, factor):
        way = self.random.randrange(5)
        if way == 0:
            self.step(*self.called("mul", operator.mul, (self.last, self.constant(factor)), lambda x: x * factor))
        elif way == 1:
            self.step(*self.called("div", operator.truediv, (self.last, 1 / factor), lambda x: x * factor))
        elif way == 2:
            self.step(self.graph.call_function(operator.mul, (self.constant(factor), self.last)), lambda x: x * factor)
        elif way == 3:
            node = self.graph.call_function(torch.mul, (), {"input": self.last, "other": factor})
            self.step(node, lambda x: x * factor)
        else:
            self.step(*self.called("neg", operator.neg, (self.last,), operator.neg))
            self.step(*self.called("mul", operator.mul, (self.last, -factor), lambda x: x * -factor))

    def shift(self, by):
        way = self.random.randrange(5)
        if way == 0:
            self.step(*self.called("add", operator.add, (self.last, self.constant(by)), lambda x: x + by))
        elif way == 1:
            self.step(*self.called("sub", operator.sub, (self.last, -by), lambda x: x + by))
        elif way == 2:
            self.step(self.graph.call_function(operator.sub, (self.constant(-by), self.last)), lambda x: -by - x)
            self.step(self.graph.call_function(operator.neg, (self.last,)), operator.neg)
        elif way == 3:
            node = self.graph.call_function(torch.add, (self.last, by / 2), {"alpha": 2})
            self.step(node, lambda x: x + by)
        else:
            name = "add" if self.last is self.input else "add_"
            self.step(self.graph.call_method(name, (self.last, by)), lambda x: x + by)

    def constant(self, value):
        """A number, a parameter, or something computed from one."""
        way = self.random.randrange(3)
        if way == 0:
            return value
        name = f"constant_{len(self.graph.nodes)}"
        self.root.register_parameter(name, nn.Parameter(torch.tensor(value, dtype=torch.float64)))
        node = self.graph.get_attr(name)
        return node if way == 1 else self.graph.call_method("clone", (node,))

    def called(self, name, op, args, value):
        """As an operator, a function or a method."""
        form = self.random.randrange(3)
        if form == 0:
            return self.graph.call_function(op, args), value
        if form == 1:
            return self.graph.call_function(getattr(torch, name), args), value
        return self.graph.call_method(name, args), value

    def step(self, node, value):
        self.last = node
        self.values = value(self.values).detach()

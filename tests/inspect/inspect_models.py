"""Modules with awkward outputs, shared and re-entered parts, and parts that raise."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, namedtuple

import torch
from torch import nn

Pair = namedtuple("Pair", ["first", "second"])  # noqa: PYI024  (the untyped kind is out there)


@dataclasses.dataclass(frozen=True)
class Frozen:
    logits: torch.Tensor
    extra: list
    name: str = "kept"


@dataclasses.dataclass
class Slotted:
    __slots__ = ("score",)
    score: torch.Tensor


class ModelOutput(OrderedDict):
    """As transformers has it: a mapping whose items are attributes too."""

    def __init__(self, **items):
        super().__init__(items)
        self.__dict__.update(items)

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        self.__dict__[key] = value


class Returns(nn.Module):
    """Returns what ``make`` makes of the output of a linear layer."""

    def __init__(self, make):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.make = make

    def forward(self, x):
        return self.make(self.linear(x))


class Shared(nn.Module):
    """One layer under three paths: called by the root, twice in ``decoder``."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(4, 4)
        self.decoder = nn.Sequential(self.embed, nn.ReLU(), self.embed)
        self.unused = nn.Linear(4, 4)

    def forward(self, x):
        return self.decoder(self.embed(x))


class Tree(nn.Module):
    """Calls itself: once for each level."""

    def __init__(self):
        super().__init__()
        self.leaf = nn.Linear(4, 4)

    def forward(self, x, depth):
        return self.leaf(x) if depth == 0 else self(x, depth - 1) + 1


class Raises(nn.Module):
    """Fails after its first layer."""

    def __init__(self):
        super().__init__()
        self.before = nn.Linear(4, 4)
        self.inner = nn.Sequential(nn.ReLU(), nn.Linear(5, 5))

    def forward(self, x):
        return self.inner(self.before(x))


class Catches(nn.Module):
    """Goes on with another branch where the first one fails."""

    def __init__(self):
        super().__init__()
        self.attempt = Raises()
        self.fallback = nn.Linear(4, 4)

    def forward(self, x):
        try:
            return self.attempt(x)
        except RuntimeError:
            return self.fallback(x)


def hooks_of(model):
    return sum(
        len(each._forward_hooks) + len(each._forward_pre_hooks) + len(each._forward_hooks_always_called)
        for each in model.modules()
    )

"""Models with every kind of call, name and tensor that an export must carry over; importable in a fresh process."""

import math
import operator

import torch
from torch import fx, nn


def doubled(x, *, by=2.0):
    return x * by


class Squash(nn.Module):
    """Its constructor's arguments cannot be told from its attributes."""

    def __init__(self, low, high):
        super().__init__()
        self.range = (low, high)
        self.kind = torch.float64
        self.scale = nn.Parameter(torch.full((1,), float(high - low)))
        self.register_buffer("seen", torch.ones(1), persistent=False)

    def forward(self, x):
        return torch.clamp(x, *self.range) * self.scale * self.seen


class Told(nn.Module):
    """Its constructor's arguments are its attributes."""

    def __init__(self, width, *, bias=True):
        super().__init__()
        self.width = width
        self.bias = bias
        self.inner = nn.Sequential(nn.Linear(width, width, bias=bias), nn.GELU(approximate="tanh"))

    def forward(self, x):
        return self.inner(x)


class Odd(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleDict({"a-b": nn.Linear(4, 4), "lambda_": nn.LayerNorm(4)})
        self.first = nn.Linear(4, 4)
        self.tied = nn.Linear(4, 4, bias=False)
        self.tied.weight = self.first.weight
        self.again = self.first
        self.squash = Squash(-1, 1)
        self.told = Told(4, bias=False)
        self.lstm = nn.LSTM(4, 3, num_layers=2, batch_first=True, bidirectional=True)
        self.attention = nn.MultiheadAttention(6, 2, batch_first=True)
        self.encoder = nn.TransformerEncoderLayer(6, 2, 8, batch_first=True)
        self.plain_attention = nn.MultiheadAttention(6, 2, bias=False)
        self.dropout = nn.Dropout(0.5)
        self.norm = nn.BatchNorm1d(6)
        self.norm.eval()
        self.frozen = nn.Parameter(torch.randn(6), requires_grad=False)
        self.small = nn.Parameter(torch.randn(6).to(torch.float16))
        self.register_buffer("table", torch.arange(6).reshape(2, 3).t())
        self.register_buffer("hidden", torch.randn(6), persistent=False)
        self.constant = torch.tensor([1.0, float("inf"), -2.0])

    def forward(self, x, scale=1.5, *, shift=None):
        del shift
        x = self.heads["lambda_"](self.heads["a-b"](x))
        x = self.again(self.tied(self.first(x)))
        x = self.told(self.squash(doubled(x, by=scale)))
        out, (state, _) = self.lstm(x)
        mixed, _ = self.attention(out, out, out, need_weights=False)
        mixed, _ = self.plain_attention(*[self.encoder(mixed)] * 3)
        y = self.norm(mixed[:, -1]) * self.frozen + self.small.to(torch.float32) + self.hidden
        y = self.dropout(y).unflatten(1, (2, 3)).sum(dim=-1, keepdim=True)
        z = operator.getitem(torch.where(self.constant > 0, math.pi, -math.inf), slice(0, 1))
        return {
            "y": y,
            "parts": [z, self.table.float() @ torch.ones(2, dtype=torch.float32)],
            "none": None,
            "s": state.mean(),
        }


class Keep(fx.Tracer):
    """Keeps the modules of this file whole."""

    def is_leaf_module(self, m, module_qualified_name):
        return isinstance(m, Squash | Told) or super().is_leaf_module(m, module_qualified_name)


fx.wrap("doubled")


def odd():
    torch.manual_seed(0)
    model = Odd()
    graph = Keep().trace(model)
    return fx.GraphModule(model, graph)


def nested():
    """A GraphModule in a GraphModule, called twice, its class named as no class can be."""
    torch.manual_seed(0)
    inner = fx.symbolic_trace(nn.Sequential(nn.Linear(4, 4), nn.Tanh()))
    root = nn.Module()
    root.add_module("in", inner)
    root.inner = inner
    graph = fx.Graph()
    x = graph.placeholder("x")
    once = graph.call_module("inner", (x,))
    graph.output((graph.call_module("inner", (once,)), x))
    return fx.GraphModule(root, graph, class_name="lambda")


def exported():
    """What torch.export makes: flattened inputs, ATen ops."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 3), nn.ReLU())
    return torch.export.export(model, (torch.ones(2, 4),)).module()

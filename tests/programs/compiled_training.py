"""An op of a foreign extension in a model that torch.compile breaks in two: compiled_training.py KERNEL [BACKEND]."""

import sys

import torch
from torch import nn

torch.ops.load_library(sys.argv[1])
weighted = torch.ops.walk.weighted.default


@torch.library.register_fake("walk::weighted")
def shape_of(x, scale):
    return torch.empty_like(x)


def keep(ctx, inputs, output):
    ctx.scale = inputs[1]


def gradient(ctx, grad):
    return weighted(grad, ctx.scale), None  # @gradient


torch.library.register_autograd("walk::weighted", gradient, setup_context=keep)


class Walk(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return torch.tanh(weighted(self.linear(x), 0.5))  # @walk


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Walk()
        self.second = Walk()

    def forward(self, x):
        x = self.first(x)
        print("between", x.shape[0], flush=True)  # @break
        return self.second(x).sum()


torch.manual_seed(0)
net = Net()
compiled = torch.compile(net, backend=sys.argv[2] if len(sys.argv) > 2 else "pyharness")
for _ in range(2):
    compiled(torch.ones(3, 4)).backward()
print("gradient", net.first.linear.weight.grad.sum().item())

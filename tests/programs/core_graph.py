"""One graph, run with batches that grow."""

import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        return torch.relu(x + 1)


net = torch.fx.symbolic_trace(Net())
for size in range(1, 5):
    net(torch.ones(size, 2))

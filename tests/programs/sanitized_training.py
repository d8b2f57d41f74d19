"""Trains small models as programs do; beside it lies a library that was built for a sanitizer."""

import ctypes

import torch
from torch.nn import functional

ctypes.CDLL("./native.so")
torch.manual_seed(0)
images = torch.nn.Sequential(
    torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.Flatten(), torch.nn.LazyLinear(5)
)
words = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
data = [(torch.randn(3, 8, 8), number % 5) for number in range(32)]
optimizer = None
for pictures, targets in torch.utils.data.DataLoader(data, batch_size=16, num_workers=2):
    loss = functional.cross_entropy(images(pictures), targets) + words(torch.randn(8, 32, 16)).mean()
    optimizer = optimizer or torch.optim.AdamW([*images.parameters(), *words.parameters()])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
total = torch.ones(100_000).add_(1).sum()  # by threads of OpenMP
print("trained" if total == 200_000 and loss.isfinite() else "failed")

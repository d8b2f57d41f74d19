"""One linear layer, forward and backward: stock torch, nothing of ours."""

import torch

model = torch.nn.Linear(4, 3)
x = torch.ones(2, 4)
y = model(x)
y.sum().backward()
print(y.shape)

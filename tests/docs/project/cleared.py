import ctypes

import torch

outputs = torch.linspace(-1, 1, 5, requires_grad=True) * 2
loss = outputs.square().sum()
ctypes.memset(outputs.data_ptr() + 4, 0, 8)  # a library of C, say
loss.backward()

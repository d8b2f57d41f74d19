"""One thread: these tensors are so small that a second one only waits."""

import pytest
import torch
from torch import nn


@pytest.fixture(autouse=True, scope="package")
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def deep():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Sequential(nn.ReLU(), nn.Sequential(nn.Linear(8, 4), nn.Tanh())))


@pytest.fixture
def mlp():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 10)).double()


@pytest.fixture
def x():
    return torch.randn(5, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))

"""Tests that crash in a thread of autograd's, and in a worker of a data loader."""

import ctypes
import os

import torch

library = ctypes.CDLL(os.environ["FAULTS"])


class Faulty(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        scale = gradient * 3
        library.null_pointer(None, 3)  # @backward
        return scale


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        library.divides(index)  # @worker
        return torch.ones(2)


def test_backward():
    Faulty.apply(torch.ones(3, requires_grad=True)).sum().backward()


def test_worker():
    list(torch.utils.data.DataLoader(Rows(), num_workers=1))


def test_behind():
    assert library.harmless(1) == 2

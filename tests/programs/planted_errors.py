"""Runs one of the errors of planted_errors.cpp on tensors of a small model: planted_errors.py LIBRARY ERROR."""

import ctypes
import sys

import torch


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(4, 16))
        self.register_buffer("table", torch.zeros(3, dtype=torch.float64))


def trained(layer):
    optimizer = torch.optim.Adam([layer.weight])
    layer.weight.sum().backward()
    optimizer.step()
    return optimizer


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([Layer(), Layer()])

    def forward(self, error):  # noqa: PLR0911  (an error each)
        layer = self.layers[1]
        weight = ctypes.c_void_p(layer.weight.data_ptr())
        if error == "read_behind":
            return native.read_behind(weight, ctypes.c_int64(layer.weight.numel()))
        if error == "write_before":
            return native.write_before(ctypes.c_void_p(layer.table.data_ptr()))
        if error == "read_gradient":
            trained(layer)
            return native.read_behind(ctypes.c_void_p(layer.weight.grad.data_ptr()), ctypes.c_int64(64))
        if error == "read_state":
            optimizer = trained(layer)
            moment = optimizer.state[layer.weight]["exp_avg"].data_ptr()
            return native.read_behind(ctypes.c_void_p(moment), ctypes.c_int64(64))
        if error == "use_kept":
            native.keep(ctypes.c_void_p(torch.full((7,), 2.0).data_ptr()))
            return native.use_kept()
        if error == "free_twice":
            native.free_twice(ctypes.c_void_p(torch.zeros(9).data_ptr()))
        if error == "past_an_array":
            return native.past_an_array(5)
        if error == "past_the_largest":
            return native.past_the_largest(2**31 - 1)
        if error == "misaligned":
            return native.misaligned(weight)
        return native.race(weight)


native = ctypes.CDLL(sys.argv[1])
print("began", flush=True)
model = Model()
model(sys.argv[2])
print("went on", flush=True)

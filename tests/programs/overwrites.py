"""Overwrites tensors that autograd saved, in one way for each case: python overwrites.py LIBRARY CASE..."""

import ctypes
import faulthandler
import os
import socket
import sys
import threading
import time

import numpy
import torch
from torch import nn
from torch._subclasses import FakeTensorMode

OURS = ctypes.CDLL(sys.argv[1])
for name in ("twice", "twice_aside", "read_all"):
    getattr(OURS, name).argtypes = [ctypes.c_void_p, ctypes.c_size_t, *([ctypes.c_void_p] * (name == "read_all"))]


def call(function, tensor, *rest):
    function(tensor.data_ptr(), tensor.numel(), *rest)  # @call


def weights(count=6):
    return torch.full((count,), 3.0, requires_grad=True)


def native():
    y = weights() * 1
    z = y * y  # @saved
    call(OURS.twice, y)
    z.sum().backward()


def natively_in_a_thread():
    y = weights() * 1
    z = y.sin()
    call(OURS.twice_aside, y)
    z.sum().backward()


def of_a_thread():
    thread = threading.Thread(target=native, name="trains")
    thread.start()
    thread.join()


def counted():
    y = weights() * 1
    z = y.sin()
    y.add_(1)  # @counted
    z.sum().backward()


def through_data(count=6):
    y = weights(count) * 1
    z = y.sin()
    y.data.mul_(2)  # @data
    z.sum().backward()


def by_torchs_threads():
    """Any of them may be the first to write."""
    through_data(3_000_000)


def through_numpy():
    y = weights(4000) * 1
    z = y.exp()
    z.detach().numpy()[3000] = 5  # @numpy
    z.sum().backward()


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return 2 * x * gradient


def of_a_function():
    y = weights() * 1
    z = Square.apply(y)  # @function
    call(OURS.twice, y)
    z.sum().backward()


def of_a_layer():
    layer = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))
    z = layer(torch.ones(3, 4))
    call(OURS.twice, layer[1].weight.detach())  # is taken transposed
    z.sum().backward()


def rightly():
    """Writes that hurt nobody."""
    y = weights() * 1
    total = torch.zeros(())
    z = (y * y).sum()
    call(OURS.read_all, y.detach(), total.data_ptr())
    z.backward()
    call(OURS.twice, y)  # backward has taken it
    buffer = torch.ones(2, 5000)
    z = (weights(5000) * buffer[0]).sum()
    call(OURS.twice, buffer[1])  # a part that nobody saved
    z.backward()
    y = weights() * 1
    y.sin()
    call(OURS.twice, y)  # no backward comes
    y = weights() * 1
    z = y.sin()
    call(OURS.twice_aside, y * 1)
    z.sum().backward(retain_graph=True)
    with open("/dev/zero", "rb", buffering=0) as zeros:
        assert zeros.readinto(y.detach().numpy()) == 24


def training():
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3),
        nn.BatchNorm2d(8),
        nn.ReLU(inplace=True),
        nn.AdaptiveAvgPool2d(4),
        nn.Flatten(1),
        nn.Dropout(0.1),
        nn.LayerNorm(128),
        nn.Linear(128, 4),
    )
    memory, transformer = nn.LSTM(4, 4, 2), nn.TransformerEncoderLayer(4, 2, 8)
    parts = nn.ModuleList([net, memory, transformer])
    for optimizer in (torch.optim.SGD(parts.parameters(), 0.1, momentum=0.9), torch.optim.AdamW(parts.parameters())):
        for _ in range(3):
            optimizer.zero_grad()
            states, _last = memory(net(torch.randn(6, 3, 12, 12))[None])
            again = torch.utils.checkpoint.checkpoint(transformer, states, use_reentrant=False)
            torch.nn.functional.cross_entropy((states + again)[0], torch.zeros(6, dtype=torch.long)).backward()
            nn.utils.clip_grad_norm_(parts.parameters(), 1.0)
            optimizer.step()
    x = torch.randn(4, 4, requires_grad=True)
    (slope,) = torch.autograd.grad((x @ x).sin().sum(), x, create_graph=True)
    slope.square().sum().backward()
    torch.func.grad(lambda x: x.sin().square().sum())(torch.randn(4))


def unusual():
    """Tensors whose memory or sizes are not as others'."""
    parts = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)], requires_grad=True)
    (parts * parts).to_padded_tensor(0.0).sum().backward()
    torch.sparse.mm(torch.eye(6).to_sparse(), weights()[:, None]).sin().sum().backward()
    with FakeTensorMode():
        weights().sin().sum().backward()
    torch.func.vmap(torch.func.grad(lambda x: x.sin().exp().sum()))(torch.randn(2, 4))
    x = torch.ones(3, device="meta", requires_grad=True)
    (x * x).sum().backward()
    x = torch.ones(3, dtype=torch.complex64, requires_grad=True)
    (x * x).abs().sum().backward()
    torch.from_numpy(numpy.ones(3, dtype="float32")).requires_grad_().exp().sum().backward()
    torch.empty(0, requires_grad=True).exp().sum().backward()
    with torch.inference_mode():
        y = torch.ones(3)
    (weights(3) * y.clone()).sum().backward()
    z = (weights(3) * 1).exp()
    if os.fork() == 0:
        z.sum().backward()
        os._exit(0)
    os.wait()
    z.sum().backward()


def in_a_child_too():
    native()
    if os.fork() == 0:
        native()
        sys.exit(0)
    os.wait()


def beside():
    """A write into another part of the same memory comes first."""
    buffer = torch.ones(2, 6)
    z = (weights() * buffer[0]).sum()
    call(OURS.twice, buffer[1])
    call(OURS.twice, buffer[0])
    z.backward()


def of_very_many():
    """More than the system has mappings for."""
    scale = weights(1)
    waves = [(scale * number).sin() for number in range(40_000)]
    torch.stack(waves).sum().backward()
    numbers = [torch.ones(1) for _ in range(300_000)]
    assert torch.stack(numbers).sum() == 300_000


def again_and_again():
    for _ in range(600):
        native()
        time.sleep(0.1)


def compiled():
    function = torch.compile(lambda x, y: (x.sin() * y).sum())
    x, y = weights(), weights()
    z = function(x, y)
    call(OURS.twice, y.detach())
    z.backward()


def by_the_system():
    y = weights(2000) * 1
    z = y.sin()
    with open("/dev/zero", "rb", buffering=0) as zeros:
        assert zeros.readinto(y.detach().numpy()[1:3]) == 8  # @read
    z.sum().backward()


def by_a_socket():
    near, far = socket.socketpair()
    y = weights() * 1
    z = y.sin()
    near.send(bytes(24))
    assert far.recv_into(y.detach().numpy()) == 24  # @received
    z.sum().backward()


def enables_faulthandler():
    y = weights() * 1
    z = y.sin()
    faulthandler.enable()
    faulthandler.disable()
    faulthandler.enable()
    call(OURS.twice, y)
    z.sum().backward()


def crashes():
    native()
    ctypes.string_at(8)


for case in sys.argv[2:]:
    globals()[case]()
    print(case, flush=True)

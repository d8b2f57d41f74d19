"""Makes a tensor of every kind, writes down what torch says of each, and waits inside a kernel to be looked at.

Usage: tensor_zoo.py KERNEL.so TABLE.json (a byte on standard output for each thread that waits; each wants one byte).
"""

import json
import math
import sys

import autograd_waits
import torch

from pyharness.debuggee.shown import tensor as presentation_tensor


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


def dtypes():
    generator = torch.Generator().manual_seed(0)
    raw = torch.randint(0, 256, (96,), dtype=torch.uint8, generator=generator)
    for name in sorted(name for name in dir(torch) if isinstance(getattr(torch, name), torch.dtype)):
        dtype = getattr(torch, name)
        if str(dtype) != f"torch.{name}" or name.startswith("q"):
            continue
        bits = raw % 2 if name == "bool" else raw
        yield f"dtype {name}", bits.view(dtype)


def shapes():
    base = torch.arange(24.0).reshape(2, 3, 4)
    yield "contiguous", base.clone()
    yield "transposed", base.transpose(0, 2)
    yield "sliced", base[:, 1:, ::2]
    yield "expanded", torch.tensor([1.0, 2.0]).expand(3, 2)
    yield "expanded beyond memory", torch.ones(1).expand(1 << 40)
    yield "large", torch.arange(40_000.0).reshape(200, 200)
    yield "large transposed", torch.arange(40_000.0).reshape(200, 200).t()
    yield "far apart", torch.arange(4_000_000, dtype=torch.int32)[::100_000]
    yield "channels last", torch.rand(2, 3, 4, 5).to(memory_format=torch.channels_last)
    yield "scalar", torch.tensor(3.5)
    yield "empty", torch.empty(0)
    yield "empty rows", torch.empty(5, 0, 3)
    yield "six dimensions", torch.rand(1, 2, 1, 2, 1, 2)
    yield "many dimensions", torch.ones([2] * 15)
    yield "offset", torch.arange(10)[4:7]
    yield "as strided overlapping", torch.arange(10.0).as_strided((4, 3), (1, 2))


def states():
    leaf = torch.rand(3, requires_grad=True)
    yield "leaf", leaf
    yield "result", leaf * leaf
    yield "view of result", (leaf * 2)[1:]
    yield "python function", Twice.apply(leaf)
    with_grad = torch.rand(2, requires_grad=True)
    (with_grad * 3).sum().backward()
    yield "with gradient", with_grad
    written = torch.zeros(3)
    for _ in range(4):
        written.add_(1)
    yield "written in place", written
    yield "parameter", torch.nn.Parameter(torch.rand(2, 2))
    yield "detached", (leaf * 2).detach()
    with torch.inference_mode():
        yield "inference", torch.rand(2)
    yield "conjugate", torch.tensor([1 + 2j, 3 - 4j]).conj()
    yield "negative", torch.tensor([1 + 2j, 3 - 4j]).conj().imag
    yield "meta", torch.empty(3, 4, device="meta")
    yield "sparse", torch.tensor([[0.0, 1.0], [2.0, 0.0]]).to_sparse()
    yield "compressed", torch.tensor([[0.0, 1.0], [2.0, 0.0]]).to_sparse_csr()
    yield "quantized", torch.quantize_per_tensor(torch.tensor([-1.0, 0.0, 1.0]), 0.25, 3, torch.quint8)
    yield "not finite", torch.tensor([math.nan, math.inf, -math.inf, 1.0, 2.0])
    yield "wrapper", torch._efficientzerotensor(3)


def elements(tensor):
    if tensor.layout is not torch.strided or tensor.device.type != "cpu" or tensor.numel() > 1000:
        return None
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    try:
        shown = tensor.detach().resolve_conj().resolve_neg().tolist()
    except (RuntimeError, NotImplementedError):
        return None
    return json.loads(
        json.dumps(shown, default=str)
        .replace("-Infinity", '"-inf"')
        .replace("Infinity", '"inf"')
        .replace("NaN", '"nan"')
    )


def numbers(tensor):
    """Of the statistics that Python's side shows: name and text."""
    group = next((child.value for child in presentation_tensor.children(tensor) if child.name == "statistics"), None)
    return {child.name: str(child.value) for child in group.children()} if group else None


def say(tensor):
    strided = tensor.layout is torch.strided
    node = tensor.grad_fn
    return {
        "address": tensor._cdata,
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "sizes": list(tensor.shape),
        "strides": list(tensor.stride()) if strided else [],
        "offset": tensor.storage_offset() if strided else 0,
        "numel": tensor.numel(),
        "device": str(tensor.device),
        "requires_grad": tensor.requires_grad,
        "is_leaf": tensor.is_leaf,
        "has_grad": tensor.is_leaf and tensor.grad is not None,
        "grad_fn": node and {"name": node.name(), "sequence_number": node._sequence_nr()},
        "version": None if tensor.is_inference() else tensor._version,
        "conjugated": tensor.is_conj(),
        "negated": tensor.is_neg(),
        "elements": elements(tensor),
        "text": presentation_tensor.text(tensor),
        "statistics": numbers(tensor),
    }


def main():
    torch.ops.load_library(sys.argv[1])
    tensors = {name: tensor for kind in (dtypes, shapes, states) for name, tensor in kind()}
    with open(sys.argv[2], "w") as stream:
        json.dump({name: say(tensor) for name, tensor in tensors.items()}, stream)
    autograd_waits.start()
    local = tensors["result"]
    matrix = torch.arange(6.0).reshape(2, 3)
    matrix.requires_grad_()
    torch.ops.tensor_kernel.wait(matrix * 1, [matrix, local], matrix, [2, 3], [4, 5], 1.5, 1, 0)  # @wait


main()

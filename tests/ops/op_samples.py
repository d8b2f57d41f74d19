"""Samples that every op passes through: shapes (empty ones too), layouts, options; and the reference in plain torch."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812  (its name everywhere)

DTYPES = (torch.float32, torch.float64, torch.bfloat16)
# bfloat16 keeps 8 bits: one rounding of the result, of a number computed in float32.
TOLERANCES = {
    torch.float32: {"rtol": 2e-5, "atol": 2e-5},
    torch.float64: {"rtol": 1e-12, "atol": 1e-12},
    torch.bfloat16: {"rtol": 1.6e-2, "atol": 1.6e-2},
}


def contiguous(shape, dtype):
    return torch.randn(shape, dtype=dtype)


def transposed(shape, dtype):
    if len(shape) < 2:
        return strided(shape, dtype)
    return torch.randn((*shape[:-2], shape[-1], shape[-2]), dtype=dtype).transpose(-1, -2)


def strided(shape, dtype):
    return torch.randn((*shape[:-1], 2 * shape[-1]), dtype=dtype)[..., ::2]


def expanded(shape, dtype):
    return torch.randn((1,) * len(shape), dtype=dtype).expand(shape)


@dataclass(frozen=True)
class Sample:
    """Arguments of an op: float tensors by shape and layout, then what follows them."""

    op: str
    shapes: tuple
    layout: Callable[..., torch.Tensor] = contiguous
    rest: tuple = ()

    def __str__(self):
        shapes = ",".join("x".join(map(str, shape)) for shape in self.shapes)
        options = "".join(f"-{value}" for value in self.rest if not isinstance(value, torch.Tensor))
        return f"{self.op}-{shapes}-{self.layout.__name__}{options}"

    def tensors(self, dtype, *, requires_grad=False):
        torch.manual_seed(0)
        return [self.layout(shape, dtype).requires_grad_(requires_grad) for shape in self.shapes]

    def arguments(self, dtype, *, requires_grad=False):
        return [*self.tensors(dtype, requires_grad=requires_grad), *self.rest]


def targets(shape, classes, ignored):
    torch.manual_seed(1)
    target = torch.randint(0, max(classes, 1), shape)
    target.view(-1)[::3] = ignored
    return target


def rms_norm(x, weight, eps):
    return F.rms_norm(x, weight.shape, weight, eps)


def swiglu(gate, up):
    return F.silu(gate) * up


def softmax_cross_entropy(logits, target, ignore_index, label_smoothing):
    rows, classes = target.reshape(-1), logits.shape[-1]
    return F.cross_entropy(
        logits.reshape(rows.numel(), classes), rows, ignore_index=ignore_index, label_smoothing=label_smoothing
    )


def gated_scan(gate, values, state):
    steps = []
    for a, b in zip(gate.unbind(1), values.unbind(1), strict=True):
        state = a * state + b
        steps.append(state)
    return torch.stack(steps, 1) if steps else gate + values


REFERENCES = {function.__name__: function for function in (rms_norm, swiglu, softmax_cross_entropy, gated_scan)}


def _rms_norm_samples():
    for shape in ((3,), (2, 5), (2, 3, 17), (0, 4), (2, 0, 4), (3, 0)):
        yield Sample("rms_norm", (shape, shape[-1:]), rest=(1e-5,))
    for layout in (transposed, strided, expanded):
        yield Sample("rms_norm", ((4, 6), (6,)), layout, (1e-3,))
    yield Sample("rms_norm", ((130, 300), (300,)), rest=(1e-6,))  # more than one chunk of rows


def _swiglu_samples():
    for shape in ((), (5,), (2, 3, 17), (0,), (2, 0, 3)):
        yield Sample("swiglu", (shape, shape))
    for layout in (transposed, strided, expanded):
        yield Sample("swiglu", ((4, 6), (4, 6)), layout)
    yield Sample("swiglu", ((3, 30000), (3, 30000)))  # more than one thread's share


def _cross_entropy_samples():
    for shape in ((5,), (4, 7), (2, 3, 17)):
        for ignored, smoothing in ((-100, 0.0), (0, 0.1), (-1, 1.0)):
            target = targets(shape[:-1], shape[-1], ignored)
            if target.dim() == 0:
                target = torch.tensor(shape[-1] - 1)
            yield Sample("softmax_cross_entropy", (shape,), rest=(target, ignored, smoothing))
    for layout in (transposed, strided, expanded):
        yield Sample("softmax_cross_entropy", ((4, 6),), layout, (targets((4,), 6, -100), -100, 0.1))
    yield Sample("softmax_cross_entropy", ((0, 4),), rest=(targets((0,), 4, -100), -100, 0.1))
    yield Sample("softmax_cross_entropy", ((130, 300),), rest=(targets((130,), 300, -100), -100, 0.1))


def _scan_samples():
    for batch, time, width in ((1, 1, 1), (2, 5, 3), (2, 9, 300), (0, 3, 2), (2, 0, 3), (2, 3, 0)):
        yield Sample("gated_scan", ((batch, time, width), (batch, time, width), (batch, width)))
    for layout in (transposed, strided, expanded):
        yield Sample("gated_scan", ((2, 4, 6), (2, 4, 6), (2, 6)), layout)
    yield Sample("gated_scan", ((5, 40, 600), (5, 40, 600), (5, 600)))  # several blocks of channels, several threads


SAMPLES = [*_rms_norm_samples(), *_swiglu_samples(), *_cross_entropy_samples(), *_scan_samples()]
SMALL = [sample for sample in SAMPLES if all(torch.Size(shape).numel() < 200 for shape in sample.shapes)]

"""Bad arguments: each message names the op, the argument and what it got; real, meta and traced tensors alike."""

import pytest
import torch

import pyharness.ops

ops = pyharness.ops


def f32(*shape):
    return torch.ones(shape)


def f16(*shape):
    return torch.ones(shape, dtype=torch.float16)


def f64(*shape):
    return torch.ones(shape, dtype=torch.float64)


def classes(*values):
    return torch.tensor(values)


CASES = [
    (ops.rms_norm, (f16(2, 3), f16(3)), TypeError, r"rms_norm: input must be .*, got Half of shape \[2, 3\]"),
    (ops.rms_norm, (f32(2, 3), f64(3)), TypeError, r"rms_norm: weight must have the dtype of input, Float, got Double"),
    (ops.rms_norm, (f32(2, 3), f32(4)), ValueError, r"rms_norm: weight must have shape \[3\] .*got shape \[4\]"),
    (ops.rms_norm, (f32(), f32(1)), ValueError, r"rms_norm: input must have a dimension .*got shape \[\]"),
    (ops.swiglu, (f32(2, 3), f32(3)), ValueError, r"swiglu: up must have shape \[2, 3\] .*got shape \[3\]"),
    (ops.swiglu, (classes(1), classes(1)), TypeError, r"swiglu: gate must be .*, got Long of shape \[1\]"),
    (ops.swiglu, (f32(2), f32(2).to("meta")), RuntimeError, r"swiglu: up must be on the device of gate, cpu, got meta"),
    (
        ops.softmax_cross_entropy,
        (f32(2, 3), f32(2)),
        TypeError,
        r"softmax_cross_entropy: target must be int64, got Float of shape \[2\]",
    ),
    (
        ops.softmax_cross_entropy,
        (f32(2, 3), classes(1)),
        ValueError,
        r"softmax_cross_entropy: target must have shape \[2\] .*got shape \[1\]",
    ),
    (
        ops.softmax_cross_entropy,
        (f32(2, 3), classes(0, 3)),
        IndexError,
        r"target must be in \[0, 3\) or ignore_index \(-100\), got 3 at flat position 1 of shape \[2\]",
    ),
    (
        ops.softmax_cross_entropy,
        (f32(2, 3), classes(0, 1), -100, 1.5),
        ValueError,
        r"label_smoothing must be in \[0, 1\], got 1.5",
    ),
    (
        ops.gated_scan,
        (f32(2, 3), f32(2, 3), f32(2)),
        ValueError,
        r"gated_scan: gate must be \(batch, time, channel\), got shape \[2, 3\]",
    ),
    (
        ops.gated_scan,
        (f32(2, 3, 4), f32(2, 3, 5), f32(2, 4)),
        ValueError,
        r"gated_scan: input must have shape \[2, 3, 4\] .*got shape \[2, 3, 5\]",
    ),
    (
        ops.gated_scan,
        (f32(2, 3, 4), f32(2, 3, 4), f32(2, 5)),
        ValueError,
        r"gated_scan: state must have shape \[2, 4\] \(batch and channel of gate\), got shape \[2, 5\]",
    ),
]
IDS = [f"{case[0].__name__}-{index}" for index, case in enumerate(CASES)]


@pytest.mark.parametrize(("op", "arguments", "error", "message"), CASES, ids=IDS)
def test_a_bad_argument_is_named(op, arguments, error, message):
    with pytest.raises(error, match=message):
        op(*arguments)


@pytest.mark.parametrize(("op", "arguments", "error", "message"), [c for c in CASES if c[2] is not IndexError])
def test_a_bad_argument_is_named_before_anything_runs(op, arguments, error, message):
    with pytest.raises(error, match=message.replace("cpu", "(cpu|meta)")):
        op(
            *(
                value.to("meta") if isinstance(value, torch.Tensor) and "meta" not in message else value
                for value in arguments
            )
        )


@pytest.mark.parametrize(("op", "arguments", "error", "message"), CASES, ids=IDS)
def test_a_bad_argument_is_named_with_gradients_on(op, arguments, error, message):
    first = arguments[0].clone()
    if first.is_floating_point():
        first.requires_grad_()
    with pytest.raises(error, match=message):
        op(first, *arguments[1:])

"""The ops that compute something: what each means, its shapes and its errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import torch

if TYPE_CHECKING:
    from torch import Tensor

# The overload itself, not the packet: FX then writes down one exact target and no lookup is left for the call.
_rms_norm = torch.ops.pyharness.rms_norm.default
_swiglu = torch.ops.pyharness.swiglu.default
_softmax_cross_entropy = torch.ops.pyharness.softmax_cross_entropy.default
_gated_scan = torch.ops.pyharness.gated_scan.default


def rms_norm(input: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:  # noqa: A002  (torch's own name for it)
    """``input / sqrt(mean(input²) + eps) * weight``, the mean taken over the last dimension.

    Formula: Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019.

    Args:
        input: shape (..., D).
        weight: shape (D,), dtype and device of ``input``.
        eps: added to the mean of squares.

    Returns:
        Tensor of the shape of ``input``.

    Raises:
        TypeError: a dtype is not supported, or the two differ.
        ValueError: a shape does not fit.

    """
    return cast("Tensor", _rms_norm(input, weight, eps))


def swiglu(gate: Tensor, up: Tensor) -> Tensor:
    """``silu(gate) * up``, element by element, ``silu(z) = z / (1 + exp(-z))``.

    Formula: Shazeer, "GLU Variants Improve Transformer", 2020; the linear maps are left to the caller.

    Args:
        gate: any shape.
        up: shape, dtype and device of ``gate``.

    Returns:
        Tensor of the shape of ``gate``.

    Raises:
        TypeError: a dtype is not supported, or the two differ.
        ValueError: the shapes differ.

    """
    return cast("Tensor", _swiglu(gate, up))


def softmax_cross_entropy(
    logits: Tensor, target: Tensor, ignore_index: int = -100, label_smoothing: float = 0.0
) -> Tensor:
    """Mean over the targets that count of the cross entropy between softmax(logits) and the smoothed target.

    The target distribution of a row is ``(1 - label_smoothing)`` on its class plus ``label_smoothing / C`` on every
    class: Szegedy et al., "Rethinking the Inception Architecture", 2015. NaN where no target counts, as in
    ``torch.nn.functional.cross_entropy``.

    Args:
        logits: shape (..., C), classes last.
        target: int64 of shape (...), classes in [0, C) or ``ignore_index``.
        ignore_index: rows with this target add nothing to the loss, nor to the number it is divided by.
        label_smoothing: in [0, 1].

    Returns:
        Scalar tensor of the dtype of ``logits``.

    Raises:
        TypeError: a dtype is not supported.
        ValueError: a shape does not fit, or ``label_smoothing`` is out of range.
        IndexError: a target is no class.

    """
    return cast("Tensor", _softmax_cross_entropy(logits, target, ignore_index, label_smoothing))


def gated_scan(gate: Tensor, input: Tensor, state: Tensor) -> Tensor:  # noqa: A002  (torch's own name for it)
    """Linear recurrence over time, ``h_t = gate_t * h_(t-1) + input_t``; returns every ``h_t``.

    The last state, to go on from, is ``output[:, -1]``.

    Args:
        gate: shape (B, T, D): batch, time, channel.
        input: shape, dtype and device of ``gate``.
        state: ``h_0``, shape (B, D), dtype and device of ``gate``.

    Returns:
        Tensor of shape (B, T, D).

    Raises:
        TypeError: a dtype is not supported, or they differ.
        ValueError: a shape does not fit.

    """
    return cast("Tensor", _gated_scan(gate, input, state))

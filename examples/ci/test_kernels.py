"""Tests of kernels, one of which crashes, for docs/guides/ci.md: ``pytest --pyharness examples/ci/test_kernels.py``."""

# ruff: noqa: S101  (assertions are how a test speaks)

from __future__ import annotations

import torch

from pyharness import ops
from pyharness.ops import faulty


def test_norm() -> None:
    """Rows of ones stay rows of ones."""
    assert torch.allclose(ops.rms_norm(torch.ones(2, 4), torch.ones(4)), torch.ones(2, 4))


def test_scale() -> None:
    """The kernel reads a table that is not there."""
    values = torch.arange(4.0)
    assert faulty.null_dereference(values).sum() == 6


def test_shape() -> None:
    """Runs in a fresh process."""
    assert ops.rms_norm(torch.ones(2, 4), torch.ones(4)).shape == (2, 4)

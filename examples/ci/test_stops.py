"""A test of a kernel from inside, for docs/guides/ci.md: ``python -m pytest examples/ci/test_stops.py``."""

# ruff: noqa: S101  (assertions are how a test speaks)

from __future__ import annotations

from typing import Any

import torch

from pyharness.ops import rms_norm


def test_the_kernel_gets_whole_rows(ph_step: Any) -> None:
    """In the kernel the input has both rows; the test's own function is on the stack."""
    stop = ph_step("native:rms_norm_cpu", lambda: rms_norm(torch.ones(2, 8), torch.ones(8)), ["over"])
    assert stop.language == "native"
    assert stop.function == "pyharness::ops::rms_norm_cpu"
    assert stop.values["input"].startswith("Tensor float32 [2, 8] cpu")  # as the debugger shows it
    assert "test_the_kernel_gets_whole_rows" in dict(stop.stack)
    assert stop.result.shape == (2, 8)  # what the function returned

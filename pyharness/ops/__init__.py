"""The example ops, from Python: importing this loads the extension, which registers ``torch.ops.pyharness``.

Each function takes and returns CPU tensors of float32, float64 or bfloat16, is differentiable to any order, and is one
node for torch.fx, ``torch.export`` and ``torch.compile``. ``pyharness.ops.faulty`` has the ops that fail on purpose.
"""

from __future__ import annotations

from pyharness.native import load

load()

from pyharness.ops.kernels import gated_scan, rms_norm, softmax_cross_entropy, swiglu  # noqa: E402  (they need _C)

__all__ = ["gated_scan", "rms_norm", "softmax_cross_entropy", "swiglu"]

"""Inside the modules: what flows through them, their vector-Jacobian products, the norms of their Jacobians."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyharness.inspect.capturing import Capture, capture
    from pyharness.inspect.jacobian import jacobian_norm
    from pyharness.inspect.norm import JacobianNorm
    from pyharness.inspect.products import vjp
    from pyharness.inspect.record import Record
    from pyharness.inspect.statistics import TensorStatistics

__all__ = ["Capture", "JacobianNorm", "Record", "TensorStatistics", "capture", "jacobian_norm", "vjp"]

_HOME = {
    "Capture": "capturing",
    "JacobianNorm": "norm",
    "Record": "record",
    "TensorStatistics": "statistics",
    "capture": "capturing",
    "jacobian_norm": "jacobian",
    "vjp": "products",
}


def __getattr__(name: str) -> Any:
    """Import on first use: nothing here is needed before the program has imported torch."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value

"""The trace function of a thread, where debugpy is one that has it."""

from __future__ import annotations

import sys
from typing import Any

MONITORING = sys.version_info >= (3, 12)
"""debugpy then uses ``sys.monitoring``, which is every thread's at once."""


def set_trace(function: Any) -> None:
    """``sys.settrace``, without pydevd's warning to the program not to use it."""
    import pydevd_tracing

    (pydevd_tracing.TracingFunctionHolder._original_tracing or sys.settrace)(function)

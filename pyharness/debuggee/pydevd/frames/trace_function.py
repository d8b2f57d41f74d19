"""The trace function of a thread, where debugpy is one that has it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MONITORING = sys.version_info >= (3, 12)
"""debugpy then uses ``sys.monitoring``, which is every thread's at once."""


def set_trace(function: Any) -> None:
    """``sys.settrace``, without pydevd's warning to the program not to use it."""
    (unwarned() or sys.settrace)(function)


def unwarned() -> Callable[[Any], None] | None:
    """Python's own ``sys.settrace``, where pydevd has replaced it."""
    tracing = sys.modules.get("pydevd_tracing")
    original: Callable[[Any], None] | None = tracing.TracingFunctionHolder._original_tracing if tracing else None
    return original

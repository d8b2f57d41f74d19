"""Keeps what a debugger asks of tensors out of the graph that ``torch.jit.trace`` records on the thread that stands.

Sizes are tensors meanwhile, and who reads one adds a node; the names in the graph come from the variables of whoever
asks. Then the trace is another one than without a debugger, and torch's check of it fails.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def unrecorded() -> Iterator[None]:
    """Record nothing on this thread meanwhile; sizes are numbers."""
    torch = getattr(sys.modules.get("torch"), "_C", None)
    state = torch._get_tracing_state() if hasattr(torch, "_get_tracing_state") else None
    if state is None:
        yield
        return
    torch._set_tracing_state(None)
    try:
        yield
    finally:
        torch._set_tracing_state(state)

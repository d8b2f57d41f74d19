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
    get_state = getattr(torch, "_get_tracing_state", None)  # none without torch, and while that is imported
    state = get_state() if get_state else None
    if torch is None or state is None:
        yield
        return
    set_state = torch._set_tracing_state  # noqa: SLF001  (torch has no other way)
    set_state(None)
    try:
        yield
    finally:
        set_state(state)

"""Calls of a kernel that compute a node: equal kernels are one, which several layers call."""

from __future__ import annotations

import gdb

from pyharness.ingdb.stack import backtrace
from pyharness.ingdb.variables.kernels.frame import kernel_frame


class CallsOfNode:
    """The calls that compute a node."""

    def __init__(self, node: str) -> None:
        self._node = node

    def is_another(self) -> bool:
        """Whether the selected thread stands in a call that is known to compute other nodes."""
        backtrace.forget_threads()  # the thread may have passed here before, and gdb told nobody
        kernel = kernel_frame(gdb.newest_frame())
        calls = kernel.standings if kernel else ()
        return bool(calls) and not any(self._node in call.use.nodes for call in calls)

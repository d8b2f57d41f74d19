"""A tracer that remembers, for each node, the module that made it and the user's line."""

from __future__ import annotations

import sys
import traceback
from typing import TYPE_CHECKING, Any

import torch.fx

from pyharness.fx import provenance

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.fx.provenance import Provenance


class Tracer(torch.fx.Tracer):
    """``torch.fx.Tracer`` with provenance on each node: in ``node.meta`` and in ``tracer.provenance``.

    The record is kept by everything that copies nodes (``node_copy``, ``deepcopy``, ``Transformer``). Other tracers can
    be derived from this one together with it.
    """

    provenance: dict[str, Provenance]
    """Of each node of the last trace, by node name."""

    def trace(self, root: torch.nn.Module | Callable[..., Any], *args: Any, **kwargs: Any) -> torch.fx.Graph:
        """As ``torch.fx.Tracer.trace``."""
        self.provenance = {}
        return super().trace(root, *args, **kwargs)

    def create_node(self, *args: Any, **kwargs: Any) -> torch.fx.Node:
        """As ``torch.fx.Tracer.create_node``, with the record."""
        node = super().create_node(*args, **kwargs)
        provenance.record(self, node, sys._getframe(1))  # noqa: SLF001  (a traceback object would cost the most)
        self.provenance[node.name] = provenance.of(node)
        return node

    def call_module(self, m: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
        """As ``torch.fx.Tracer.call_module``; a call that raises leaves torch's module stack as it was."""
        before = self.module_stack.copy()
        try:
            return super().call_module(m, *args, **kwargs)
        except BaseException:
            self.module_stack.clear()
            self.module_stack.update(before)
            raise

    def _filter_traceback_frames(self, user_stack_summary: traceback.StackSummary) -> traceback.StackSummary:
        """Keep ``record_stack_traces`` free of this file: its frames are nearer to the node than the user's."""
        mine = {__file__, provenance.__file__}
        kept = [frame for frame in user_stack_summary if frame.filename not in mine]
        return super()._filter_traceback_frames(traceback.StackSummary.from_list(kept))

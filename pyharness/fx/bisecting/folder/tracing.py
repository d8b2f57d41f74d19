"""Traces generated code so that each of its statements is a node of the same name again."""

from __future__ import annotations

import linecache
import sys
from typing import TYPE_CHECKING, Any

from torch import fx, nn

if TYPE_CHECKING:
    from types import CodeType, FrameType


class Tracer(fx.Tracer):
    """Makes a node of each call of ``forward``, named by the variable that it is assigned to."""

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        """Every submodule is one node."""
        del m, module_qualified_name
        return True

    def create_node(self, *args: Any, **kwargs: Any) -> fx.Node:
        """As ``torch.fx.Tracer.create_node``."""
        node = super().create_node(*args, **kwargs)
        name = assigned(sys._getframe(), self.root.forward.__code__)  # noqa: SLF001  (as FX itself does)
        if name and node.op.startswith(("call_", "get_")):
            node._rename(name)  # noqa: SLF001  (FX's only way)
        return node


def assigned(frame: FrameType | None, code: CodeType) -> str:
    """The variable of the statement that ``code`` is at."""
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    text = linecache.getline(code.co_filename, frame.f_lineno) if frame else ""
    name = text.partition(" = ")[0].strip()
    return name if name.isidentifier() else ""


def traced(model: nn.Module) -> fx.GraphModule:
    """A GraphModule of ``model`` and its code."""
    return fx.GraphModule(model, Tracer().trace(model), type(model).__name__)

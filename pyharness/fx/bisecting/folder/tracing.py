"""Traces generated code so that each of its statements is a node of the same name again."""

from __future__ import annotations

import linecache
import sys
from typing import Any

from torch import fx, nn


class Tracer(fx.Tracer):
    """Makes one node of each submodule's call, and notes the variable that each node is assigned to.

    ``record_stack_traces`` would tell the lines too, and import torch's compiler for it: a second.
    """

    def __init__(self) -> None:
        super().__init__()
        self.names: dict[fx.Node, str] = {}

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        """Every one is."""
        del m, module_qualified_name
        return True

    def create_node(self, *args: Any, **kwargs: Any) -> fx.Node:
        """Make a node, while the statement that makes it runs."""
        node = super().create_node(*args, **kwargs)
        self.names[node] = assigned()
        return node


def traced(model: nn.Module) -> fx.GraphModule:
    """A GraphModule of ``model`` and its code, nodes named by the variables that they are assigned to."""
    tracer = Tracer()
    graph = tracer.trace(model)
    for node in graph.nodes:
        name = tracer.names.get(node)
        if name and node.op not in {"placeholder", "output"}:
            node.name = name
    renamed = fx.Graph()  # a copy has each name free that no node of it has
    renamed.output(renamed.graph_copy(graph, {}))
    return fx.GraphModule(model, renamed, type(model).__name__)


def assigned() -> str:
    """The variable of the statement at which the innermost ``forward`` is."""
    frame = sys._getframe(1)  # noqa: SLF001
    while frame.f_code.co_name != "forward":
        if frame.f_back is None:
            return ""
        frame = frame.f_back
    name = linecache.getline(frame.f_code.co_filename, frame.f_lineno).partition(" = ")[0].strip()
    return name if name.isidentifier() else ""

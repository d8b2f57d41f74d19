"""Traces generated code so that each of its statements is a node of the same name again."""

from __future__ import annotations

import linecache
import re

from torch import fx, nn

_IN_FORWARD = re.compile(r'File "([^"\n]+)", line (\d+), in forward')


class Tracer(fx.Tracer):
    """Makes one node of each submodule's call, and notes the lines that make nodes."""

    record_stack_traces = True

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        """Every one is."""
        del m, module_qualified_name
        return True


def traced(model: nn.Module) -> fx.GraphModule:
    """A GraphModule of ``model`` and its code, nodes named by the variables that they are assigned to."""
    graph = Tracer().trace(model)
    for node in graph.nodes:
        name = assigned(node.meta.pop("stack_trace", None) or "")
        if name and node.op not in {"placeholder", "output"}:
            node.name = name
    renamed = fx.Graph()  # a copy has each name free that no node of it has
    renamed.output(renamed.graph_copy(graph, {}))
    return fx.GraphModule(model, renamed, type(model).__name__)


def assigned(stack_trace: str) -> str:
    """The variable of the innermost statement of a ``forward``."""
    frames = _IN_FORWARD.findall(stack_trace)
    text = linecache.getline(frames[-1][0], int(frames[-1][1])) if frames else ""
    name = text.partition(" = ")[0].strip()
    return name if name.isidentifier() else ""

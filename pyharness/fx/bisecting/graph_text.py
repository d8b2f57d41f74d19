"""A graph as the calls that build it, node by node: for one that tracing its generated code would not give again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.fx import Graph, GraphModule, Node
from torch.fx.node import map_arg

from pyharness.fx.exporting.names import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch.fx import Tracer

    from pyharness.fx.bisecting.names import Names

TRACED_TEXT = '''"""The graph before the pass: of the code in graph_before, to read and to edit."""

import graph_before
from tracing import traced


def graph_module():
    """A new GraphModule, with parameters and buffers of its own."""
    return traced(graph_before.load())
'''

_BUILT_TEXT = '''"""The graph before the pass, built node by node: tracing the code in graph_before gives another."""

from __future__ import annotations

import sys
from pathlib import Path

import graph_before
import torch
from torch import fx
{names}

def graph_module() -> fx.GraphModule:
    """A new GraphModule, with parameters and buffers of its own."""
    model = graph_before.load()
    graph = fx.Graph()
{lines}
    return fx.GraphModule(model, graph, type(model).__name__)
'''


def built_text(module: GraphModule, names: Names) -> str:
    """The file; what has no text is noted in ``names.missing``."""
    lines = [*_attribute_lines(module), *_node_lines(module.graph, names)]
    return _BUILT_TEXT.format(
        names="".join(f"{line}\n" for line in names.lines()), lines="\n".join(f"    {line}" for line in lines)
    )


def traces_to_same(module: GraphModule, tracer: Tracer) -> bool:
    """Whether tracing the generated code gives this graph again, names aside, and the module has nothing beside it."""
    if any(True for _ in _attributes(module)):
        return False
    try:
        return _shape(tracer.trace(module)) == _shape(module.graph)
    except Exception:  # noqa: BLE001  (generated code that cannot be traced raises what it likes)
        return False


def _shape(graph: Graph) -> list[tuple[Any, ...]]:
    number = {node: f"%{index}" for index, node in enumerate(graph.nodes)}
    return [
        (node.op, node.op == "placeholder" or node.target, repr(map_arg((node.args, node.kwargs), number.__getitem__)))
        for node in graph.nodes
    ]


_OF_GRAPH_MODULES = set(vars(GraphModule({}, Graph())))


def _attributes(module: GraphModule) -> Iterator[tuple[str, Any]]:
    """What somebody put on the module that is no parameter, buffer or submodule."""
    used = {str(node.target).partition(".")[0] for node in module.graph.nodes if node.op == "get_attr"}
    return ((name, value) for name, value in vars(module).items() if name not in _OF_GRAPH_MODULES | used)


def _attribute_lines(module: GraphModule) -> Iterator[str]:
    for name, value in _attributes(module):
        text = plain(value) if name.isidentifier() else None
        if text is not None:
            yield f"model.{name} = {text}"


def _node_lines(graph: Graph, names: Names) -> Iterator[str]:
    for node in graph.nodes:
        target = repr(node.target) if isinstance(node.target, str) else names.expression(node.target)
        if target is None:
            names.missing.append(f"the function of node {node.name}")
        given = f"{_text(node.args, names)}, {_text(node.kwargs, names)}"
        yield f"{node.name} = graph.create_node({node.op!r}, {target}, {given}, {node.name!r})"
        for key, value in node.meta.items():
            text = plain(value) if isinstance(key, str) else None
            if text is not None:
                yield f"{node.name}.meta[{key!r}] = {text}"


def _text(value: Any, names: Names) -> str:
    """Python text for the arguments of a node, in which nodes are variables."""
    if isinstance(value, Node):
        return value.name
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {_text(each, names)}' for key, each in value.items())}}}"
    if not isinstance(value, tuple | list | slice):
        return names.expression(value) or "None"
    parts = (value.start, value.stop, value.step) if isinstance(value, slice) else value
    inside = "".join(f"{_text(each, names)}, " for each in parts)
    if isinstance(value, slice):
        return f"slice({inside})"
    return f"[{inside}]" if isinstance(value, list) else f"({inside})"

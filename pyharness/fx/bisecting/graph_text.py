"""The Python file that makes a graph again: its generated code, or the calls that build it node by node."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Any

import torch
from torch.fx import Graph, GraphModule, Node

from pyharness.fx.bisecting.change import plain_code
from pyharness.fx.bisecting.folder.parts import Tracer
from pyharness.fx.bisecting.literals import literal
from pyharness.fx.bisecting.op_libraries import library_lines
from pyharness.fx.bisecting.rebuild import attribute_lines, module_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyharness.fx.bisecting.names import Names

_HEAD = '''"""The graph before the pass, to read and to edit; its tensors are in data.pt."""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from parts import bare, fill, put, traced
from torch import fx, nn

DATA = torch.load(Path(__file__).with_name("data.pt"), weights_only=True)'''

_CLASS = """

class Model(nn.Module):
    def __init__(self):
        super().__init__()
{setup}
"""

_TRACED = '''

def graph_module():
    """A new GraphModule of the code above."""
    return traced(Model())
'''

_BUILT = '''

def graph_module():
    """A new GraphModule, built node by node: tracing its code would not give the same graph."""
    graph = fx.Graph()
{build}
    return fx.GraphModule(Model(), graph, "Model")
'''


def graph_text(module: GraphModule, names: Names, *, traced: bool) -> str:
    """The file; ``traced`` as code that is traced again, else as calls that build the graph."""
    setup = [*module_lines(module, names), *attribute_lines(module, names)]
    parts = [_CLASS.format(setup=_indented(setup, 8)).rstrip()]
    if traced:
        for name, value in module.graph.python_code("self").globals.items():
            if re.search(rf"\b{re.escape(name)}\b", module.code):
                names.alias(name, value)
        parts += ["", _indented(plain_code(module).split("\n"), 4), _TRACED.rstrip()]
    else:
        parts.append(_BUILT.format(build=_indented(_build_lines(module.graph, names), 4)).rstrip())
    libraries = list(library_lines(module.graph, names))
    return "\n".join([_HEAD, *names.lines(), *libraries, *parts, ""])


def _indented(lines: Iterable[str], by: int) -> str:
    return textwrap.indent("\n".join(lines), " " * by)


def tensors_of(module: GraphModule) -> dict[str, tuple[str, torch.Tensor]]:
    """What the data file holds of the module: each tensor by its path, with what it is."""
    found: dict[str, tuple[str, torch.Tensor]] = {}
    for name, parameter in module.named_parameters(remove_duplicate=False):
        found[name] = ("trained" if parameter.requires_grad else "fixed", parameter.detach())
    for name, buffer in module.named_buffers(remove_duplicate=False):
        found[name] = ("buffer", buffer.detach())
    for path, each in module.named_modules():
        for name, value in vars(each).items():
            if isinstance(value, torch.Tensor):
                found[f"{path}.{name}".lstrip(".")] = ("constant", value.detach())
    return found


def traces_to_same(module: GraphModule) -> bool:
    """Whether tracing the generated code gives this graph again, names aside."""
    try:
        again = Tracer().trace(module)
    except Exception:  # noqa: BLE001  (generated code that cannot be traced raises what it likes)
        return False
    return _shape(again) == _shape(module.graph)


def _shape(graph: Graph) -> list[tuple[Any, ...]]:
    number = {node: index for index, node in enumerate(graph.nodes)}
    return [
        (
            node.op,
            node.target if node.op != "placeholder" else "",
            _numbered(node.args, number),
            _numbered(node.kwargs, number),
        )
        for node in graph.nodes
    ]


def _numbered(value: Any, number: dict[Node, int]) -> str:
    return repr(torch.fx.node.map_arg(value, lambda node: f"%{number[node]}"))


def _build_lines(graph: Graph, names: Names) -> Iterator[str]:
    for node in graph.nodes:
        target = repr(node.target) if isinstance(node.target, str) else names.expression(node.target)
        if target is None:
            names.missing.append(f"the function of node {node.name}")
        args = ", ".join((_text(node.args, names), _text(node.kwargs, names)))
        yield f"{node.name} = graph.create_node({node.op!r}, {target}, {args}, {node.name!r})"
        plain = {key: literal(value) for key, value in node.meta.items() if isinstance(key, str)}
        for key, text in plain.items():
            if text is not None:
                yield f"{node.name}.meta[{key!r}] = {text}"


def _text(value: Any, names: Names) -> str:
    """Python text for the arguments of a node, in which nodes are variables."""
    if isinstance(value, Node):
        return value.name
    if isinstance(value, tuple):
        return f"({''.join(f'{_text(each, names)}, ' for each in value)})"
    if isinstance(value, list):
        return f"[{', '.join(_text(each, names) for each in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {_text(each, names)}' for key, each in value.items())}}}"
    if isinstance(value, slice):
        return f"slice({', '.join(_text(each, names) for each in (value.start, value.stop, value.step))})"
    return names.expression(value) or "None"

"""How an nn.Module and an fx.Node are shown at a Python stop: what the user made before what torch keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyharness.debuggee.shown.items import Child, Group, Line, line_of
from pyharness.fx import provenance
from pyharness.fx.code.mapping import target_of
from pyharness.model.frames import FxPlace
from pyharness.model.source_map import MappedLine
from pyharness.model.text.module_text import module_line
from pyharness.model.variable import fx_scope

if TYPE_CHECKING:
    from collections.abc import Iterator

_PARTS = ("_parameters", "_buffers", "_modules")
_MAX = 1000


def module_text(module: Any) -> str:
    """One line on a module, such as ``Linear (2 parameters)``: torch's own text lists the whole tree."""
    parts = [(vars(module).get(part) or {}).values() for part in _PARTS]
    counts = [sum(value is not None for value in values) for values in parts]
    return module_line(type(module).__name__, *counts)


def module_children(module: Any) -> Iterator[Child]:
    """Parameters, buffers, submodules, the user's attributes, then the rest as one; of a GraphModule its graph, too."""
    attributes = vars(module)
    for part in _PARTS:
        for name, value in (attributes.get(part) or {}).items():
            suffix = f".{name}" if name.isidentifier() else f".{part}[{name!r}]"
            yield Child(name, Line("None") if value is None else value, suffix)
    graph = attributes.get("_graph")
    if graph is not None:
        nodes = list(graph.nodes)[:_MAX]
        yield Child("graph", Group(f"{len(graph.nodes)} nodes", lambda: _nodes(nodes)), ".graph")
    internals = {name: value for name, value in attributes.items() if name.startswith("_")}
    yield from (Child(name, value, f".{name}") for name, value in attributes.items() if name not in internals)
    rest = [Child(name, value, f".{name}") for name, value in internals.items()]
    yield Child("internals", Group("hooks, and what else torch keeps", lambda: rest), "")


def _nodes(nodes: list[Any]) -> Iterator[Child]:
    return (Child(node.name, node) for node in nodes)


def node_text(node: Any) -> str:
    """One line on an FX node, such as ``call_function torch.relu(x)``."""
    arguments = ", ".join(str(argument) for argument in node.args)
    shown = f"{node.op} {target_of(node)}({arguments})"
    return shown if len(shown) <= 200 else f"{shown[:200]}…"


def node_children(node: Any) -> Iterator[Child]:
    """What the FX scope of a generated line shows, then arguments, users and metadata."""
    found = provenance.of(node)
    origin = f"{found.file}:{found.line}" if found.file else None
    entry = MappedLine(0, node.name, node.op, target_of(node), found.module, found.file, found.line)
    yield from map(line_of, fx_scope(FxPlace(node.name, found.module, origin), entry))
    yield Child("args", node.args, ".args")
    yield Child("kwargs", node.kwargs, ".kwargs")
    users = list(node.users)[:_MAX]
    yield Child("users", Group(str(len(node.users)), lambda: _nodes(users)))
    yield Child("meta", node.meta, ".meta")

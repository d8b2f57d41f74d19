"""From a graph and its generated text to the rows of a source map."""

from __future__ import annotations

from types import BuiltinFunctionType
from typing import TYPE_CHECKING

from pyharness.fx import provenance
from pyharness.fx.code.statements import spans
from pyharness.model.places import OPS
from pyharness.model.source_map import MappedLine, map_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from torch.fx import GraphModule, Node

    from pyharness.fx.code.statements import Span


INPUT = "pyharness_input"
"""``node.meta[INPUT]`` of an input that is numbered or mangled: what it is in the user's terms."""


def lines_of(module: GraphModule, text: str, generated: Container[str]) -> tuple[MappedLine, ...]:
    """A row for each node of ``module`` that has a statement in ``text``, which was generated from it.

    A node that was traced from a file in ``generated`` is followed to the user's own line.
    """
    nodes = list(module.graph.nodes)
    line_map = getattr(module, "_lineno_map", None)
    return rows(nodes, spans(text, nodes, line_map, getattr(module, "_prologue_start", 0)), generated)


def rows(nodes: Sequence[Node], found: Iterable[Span | None], generated: Container[str]) -> tuple[MappedLine, ...]:
    """Rows in order of line; where lines are shared, the input comes before the node whose statement it is."""
    made = [_row(node, span, generated) for node, span in zip(nodes, found, strict=True) if span]
    made.sort(key=lambda row: (row.line, row.op != "placeholder"))
    return tuple(made)


def _row(node: Node, span: Span, generated: Container[str]) -> MappedLine:
    module, file, line = provenance.of(node)
    if file in generated:
        entry = _entry(file, line)
        if entry and node.op in OPS:
            module = _below(module or "", entry.module or "")
        file, line = (entry.origin_file, entry.origin_line) if entry else (None, None)
    last = span.end if span.end > span.line else None
    return MappedLine(span.line, node.name, node.op, target_of(node), module, file, line, last)


def _entry(file: str | None, line: int | None) -> MappedLine | None:
    source_map = map_of(file or "")
    return source_map.at(line or 0) if source_map else None


def _below(outer: str, inner: str) -> str:
    """``inner`` as seen from the root that holds its graph as ``outer``; torch.compile's paths are whole already."""
    return outer if f".{outer}".endswith(f".{inner}") else ".".join(part for part in (outer, inner) if part)


def target_of(node: Node) -> str:
    """A readable ``node.target``: ``torch.ops.aten.add.Tensor``, ``operator.add``, ``blocks.0.norm``."""
    target = node.target
    if isinstance(target, str):
        return str(node.meta.get(INPUT, target))
    if type(target).__module__ == "torch._ops":
        return f"torch.ops.{target}"
    module = getattr(target, "__module__", None) or ""
    kind = "__name__" if isinstance(target, BuiltinFunctionType) else "__qualname__"  # torch.relu's is an inner class's
    name = getattr(target, kind, None) or repr(target)
    module = "operator" if module == "_operator" else module
    return f"{module}.{name}" if module not in {"", "builtins"} else str(name)

"""Views of a GraphModule in hand, in a program or a notebook: what ``pyharness fx`` shows of a script's graphs."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pyharness.cli.kit import output
from pyharness.cli.kit.files import check_writable, write_file
from pyharness.model.errors import UsageError, nearest
from pyharness.model.results.graph_diff import compare
from pyharness.report.graph_code import code_table
from pyharness.report.graph_diff_text import side_by_side
from pyharness.report.graph_html import graph_page
from pyharness.report.graph_rails import drawing
from pyharness.report.graph_table import table

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from torch.fx import GraphModule

    from pyharness.model.graph import Graph
    from pyharness.model.results.graph_diff import GraphDiff

__all__ = ["diff", "draw", "graph_of", "show"]

_VIEWS = {"table": table, "code": code_table, "graph": drawing}


def graph_of(module: GraphModule, inputs: Sequence[Any] | None = None) -> Graph:
    """``module`` as data: nodes with op, target, module, generated line, the user's line and shape.

    Shapes are what torch noted on the nodes. With ``inputs`` (positional arguments) a copy of ``module`` is run on them
    once, without gradients, and its values' shapes are taken; the module and the random state stay as they are.
    """
    from torch.fx import GraphModule

    from pyharness.fx.graphs.snapshot import snapshot

    if not isinstance(module, GraphModule):
        raise UsageError(f"This is a {type(module).__name__}, not a torch.fx.GraphModule.", "Trace it first.")
    graph = snapshot(module)
    return graph if inputs is None else graph.with_shapes(_shapes(module, graph, inputs))


def show(
    module: GraphModule, view: Literal["table", "code", "graph"] = "table", *, inputs: Sequence[Any] | None = None
) -> None:
    """Print the nodes of ``module`` as a table, its generated code beside the user's lines, or a drawing."""
    if view not in _VIEWS:
        raise UsageError(f"There is no view {view!r}.", nearest(view, _VIEWS) or f"Views: {', '.join(_VIEWS)}.")
    output.write_lines(_VIEWS[view](graph_of(module, inputs), output.columns()))


def diff(before: GraphModule | Graph, after: GraphModule | Graph, *, whole: bool = False) -> GraphDiff:
    """Print what differs, side by side, and return it.

    A pass that changes a module in place: take ``graph_of(module)`` before. ``whole`` prints also what is the same.
    """
    from pyharness.model.graph import Graph

    first = before if isinstance(before, Graph) else graph_of(before)
    second = after if isinstance(after, Graph) else graph_of(after)
    found = compare(first, second)
    titles = (f"{first.name}, before", f"{second.name}, after")
    output.write_lines(side_by_side(found, titles, width=output.columns(), whole=whole))
    return found


def draw(module: GraphModule, file: str | os.PathLike[str], *, inputs: Sequence[Any] | None = None) -> Path:
    """Write a page that draws ``module``: one HTML file that needs nothing else."""
    path = Path(file)
    check_writable(str(path))
    graph = graph_of(module, inputs)
    write_file(str(path), graph_page([(graph.name, "torch.fx", graph)], graph.name), "")
    return path


def _shapes(module: GraphModule, graph: Graph, inputs: Sequence[Any]) -> dict[str, str]:
    import copy

    import torch

    from pyharness.fx.graphs.observed import observed

    shapes: dict[str, str] = {}
    twin = copy.deepcopy(module)
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.random.fork_rng(devices=[]))
        stack.enter_context(torch.no_grad())
        stack.enter_context(observed(twin, graph, shapes))
        twin(*inputs)
    return shapes

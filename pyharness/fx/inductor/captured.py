"""The lines and names that nodes have now: code from torch's cache may be older than the user's file.

Torch finds code in its caches by what it computes. A map that was made with it has the lines of that day. Dynamo
captures the graph anew in each process, so each node of a map that came from one of Dynamo's has the place of that one,
and its name.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyharness.fx import provenance
from pyharness.fx.inductor.graphs import source_of
from pyharness.fx.inductor.private import replaced
from pyharness.fx.provenance import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.fx.inductor.private import Private
    from pyharness.fx.provenance import Provenance
    from pyharness.model.kernel_map import GraphNode, KernelMaps

_MOST = 256
"""Compilations whose places are kept: backward comes to its kernels long after forward."""


class Captured:
    """Follows the graphs that inductor gets from Dynamo."""

    def __init__(self, private: Private) -> None:
        self._private = private
        self._nodes: dict[str, dict[str, tuple[str, Provenance]]] = {}
        """By the compilation, and torch's name for a call: the node's own name, and where it came from."""

    def install(self) -> None:
        """Wrap the function of torch's that is the backend."""
        replaced(self._private.compile_fx, "compile_fx", self._compile)

    def fresh(self, maps: KernelMaps) -> KernelMaps:
        """``maps``, whose nodes have the places of this process's capture."""
        nodes = self._nodes.get(compile_id(), {})
        moved = (_moved(node, *nodes.get(node.captured or "", (None, UNKNOWN))) for node in maps.nodes)
        return replace(maps, nodes=tuple(moved))

    def _compile(self, original: Callable[..., Any], module: Any, *args: Any, **named: Any) -> Any:
        nodes = getattr(getattr(module, "graph", None), "nodes", ())
        self._nodes[compile_id()] = {source_of(node) or node.name: (node.name, provenance.of(node)) for node in nodes}
        if len(self._nodes) > _MOST:
            self._nodes.pop(next(iter(self._nodes)))
        return original(module, *args, **named)


def compile_id() -> str:
    """What torch calls the compilation that runs: ``FRAME/RECOMPILATION``; empty while none does."""
    from torch._guards import CompileContext

    return str(CompileContext.current_compile_id() or "")


def _moved(node: GraphNode, name: str | None, place: Provenance) -> GraphNode:
    """``node``, which came from the one of Dynamo's that is called ``name``."""
    node = replace(node, assigned=name or node.assigned)
    if place.file is None:
        return node
    return replace(node, module=place.module or node.module, origin_file=place.file, origin_line=place.line)

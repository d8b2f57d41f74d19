"""The lines that nodes have now: code from torch's cache may have been generated before the user's file changed.

Torch finds code in its caches by what it computes. A map that was made with it has the lines of that day. Dynamo
captures the graph anew in each process, so each node of a map that came from one of Dynamo's has the place of that one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyharness.fx import provenance
from pyharness.fx.inductor.graphs import source_of
from pyharness.fx.inductor.private import replaced

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
        self._places: dict[str, dict[str, Provenance]] = {}

    def install(self) -> None:
        """Wrap the function of torch's that is the backend."""
        replaced(self._private.compile_fx, "compile_fx", self._compile)

    def fresh(self, maps: KernelMaps) -> KernelMaps:
        """``maps``, whose nodes have the places of this process's capture."""
        places = self._places.get(compile_id(), {})
        return replace(maps, nodes=tuple(_moved(node, places) for node in maps.nodes))

    def _compile(self, original: Callable[..., Any], module: Any, *args: Any, **named: Any) -> Any:
        nodes = getattr(getattr(module, "graph", None), "nodes", ())
        self._places[compile_id()] = {source_of(node) or node.name: provenance.of(node) for node in nodes}
        if len(self._places) > _MOST:
            self._places.pop(next(iter(self._places)))
        return original(module, *args, **named)


def compile_id() -> str:
    """What torch calls the compilation that runs: ``FRAME/RECOMPILATION``; empty while none does."""
    from torch._guards import CompileContext

    return str(CompileContext.current_compile_id() or "")


def _moved(node: GraphNode, places: dict[str, Provenance]) -> GraphNode:
    place = places.get(node.captured or "")
    if place is None or place.file is None:
        return node
    return replace(node, module=place.module or node.module, origin_file=place.file, origin_line=place.line)

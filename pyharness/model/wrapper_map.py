"""The source map of a wrapper of inductor's: each line that calls a kernel, with the nodes that the kernel computes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.host.state import write_private
from pyharness.model.source_map import MappedLine, SourceMap, path_of

if TYPE_CHECKING:
    from pyharness.model.kernel_files import Wrapper
    from pyharness.model.kernel_map import GraphNode, WrapperCall


def write_map(wrapper: Wrapper) -> bool:
    """Keep the map of a wrapper, so that places and frames find it; ``False`` where nobody knows its nodes.

    ``StateError`` or ``OSError`` where it cannot be kept.
    """
    source_map = map_of_wrapper(wrapper)
    if source_map is None:
        return False
    write_private(Path(path_of(wrapper.file)), source_map.dump().encode())
    return True


def map_of_wrapper(wrapper: Wrapper) -> SourceMap | None:
    """A row for each node; of those that a line computes the last is its result."""
    maps = wrapper.maps
    if maps is None:
        return None
    nodes = {node.name: node for node in maps.nodes}
    lines = tuple(_line(call, nodes[name]) for call in maps.calls for name in call.nodes if name in nodes)
    return SourceMap(wrapper.file, f"inductor's {maps.kind}", lines)


def _line(call: WrapperCall, node: GraphNode) -> MappedLine:
    return MappedLine(
        call.line,
        node.name,
        "call_function",
        node.target,
        node.module,
        node.origin_file,
        node.origin_line,
        captured=tuple(name for name in dict.fromkeys((node.captured, node.assigned)) if name),
    )

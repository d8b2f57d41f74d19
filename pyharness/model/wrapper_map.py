"""The source map of a wrapper of inductor's: each line that calls a kernel, with the nodes that the kernel computes.

That of a wrapper in Python is kept as any generated file's. One in C++ may run in a program that has no Python, so its
map is made of what is kept of its text.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.host.regular_file import read_text
from pyharness.host.state import write_private
from pyharness.model.kernel_files import is_cxx, kept_at, wrappers_of
from pyharness.model.kernel_text import has_cxx_wrapper
from pyharness.model.source_map import MappedLine, SourceMap, map_of, path_of

if TYPE_CHECKING:
    from pyharness.model.kernel_files import Wrapper
    from pyharness.model.kernel_map import GraphNode, KernelMaps, WrapperCall

MOST = 8 << 20
"""Bytes of a file of C++ that is read."""


def write_map(wrapper: Wrapper) -> bool:
    """Keep the map of a wrapper in Python, so that places and frames find it; ``False`` where nobody knows its nodes.

    ``StateError`` or ``OSError`` where it cannot be kept.
    """
    source_map = map_of_wrapper(wrapper)
    if source_map is None:
        return False
    write_private(Path(path_of(wrapper.file)), source_map.dump().encode())
    return True


def map_of_wrapper(wrapper: Wrapper) -> SourceMap | None:
    """A row for each node; of those that a line computes the last is its result."""
    return _map(wrapper.file, wrapper.maps) if wrapper.maps else None


def map_of_generated(file: str) -> SourceMap | None:
    """The map of generated code in Python or C++; ``None`` for every other file."""
    return map_of_cxx(file) if is_cxx(file) else map_of(file)


def map_of_cxx(file: str) -> SourceMap | None:
    """The map of a wrapper in C++; ``None`` where the file has none, or nobody knows its nodes."""
    try:
        modified = Path(file).stat().st_mtime_ns
    except OSError:
        return None
    return _map_of_cxx(file, (modified, kept_at()))


@lru_cache(maxsize=64)
def _map_of_cxx(file: str, _modified: tuple[int, int]) -> SourceMap | None:
    try:
        text = read_text(file, MOST)
    except (OSError, ValueError):
        return None
    known = (maps for _, maps in wrappers_of(text) if maps.is_cxx) if has_cxx_wrapper(text) else ()
    maps = next(iter(known), None)
    return _map(file, maps) if maps else None


def _map(file: str, maps: KernelMaps) -> SourceMap:
    nodes = {node.name: node for node in maps.nodes}
    lines = tuple(_line(call, nodes[name]) for call in maps.calls for name in call.nodes if name in nodes)
    return SourceMap(file, f"inductor's {maps.kind}", lines)


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

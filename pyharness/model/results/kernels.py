"""The kernels that inductor made of a program's graphs, with the nodes that each line works for."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from pyharness.model.frozen import frozen
from pyharness.model.kernel_map import GraphKind  # noqa: TC001  (read from JSON by its annotation)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyharness.model.kernel_files import Kernel, Wrapper
    from pyharness.model.kernel_map import GraphNode, KernelUse

_LOOP = re.compile(r"(\s*)for ?\(int64_t (\w+)=(.*?); \w+<(.*?); \w+\+=(.*?)\)$")
_CAST = re.compile(r"static_cast<int64_t>\((.*)\)")


@frozen
class MappedKernelLine:
    """A line of a kernel, and the node that it works for in one of the kernel's calls."""

    call: int
    """Calls are counted from 1, in the wrapper's order."""
    line: int
    text: str
    kind: str
    node: str
    captured: str | None
    """The user's call that it came from, as torch names that: ``gelu`` for ``erf``."""
    module: str | None
    origin: str | None
    """The user's line as ``FILE:LINE``."""
    holds: tuple[str, ...]
    """What the line's variable is: ``erf[x0, x1]``."""
    reads: str | None = None


@frozen
class CompiledKernel:
    """One kernel of a graph; for equal layers it is called several times."""

    name: str
    file: str | None
    calls: int
    nodes: tuple[str, ...]
    modules: tuple[str, ...]
    """The modules that its nodes are of, in order."""
    loops: tuple[str, ...]
    """Each nest of loops: ``5 x 20``, outermost first."""
    bytes: int | None
    """How much one call reads and writes."""
    lines: tuple[MappedKernelLine, ...]
    """Call by call."""
    times: tuple[int | None, ...] = ()
    """Nanoseconds of the last run of each call, binding of arguments included; ``None`` for one that never ran."""


@frozen
class CompiledWrapper:
    """The code of one graph."""

    id: str
    """torch's compile id: ``FRAME/RECOMPILATION``; empty for a graph that is compiled ahead of time."""
    kind: GraphKind | None
    file: str
    kernels: tuple[CompiledKernel, ...]
    mapped: bool
    """Whether there is a map; torch may have taken the code from its cache, where nobody mapped it."""


def timed(wrapper: CompiledWrapper, text: str, times: Mapping[tuple[str, int], int]) -> CompiledWrapper:
    """``wrapper``, whose text is given, with how long its kernels took last, by their names and the lines that call."""
    kernels = []
    for kernel in wrapper.kernels:
        call = re.compile(rf"\s*{re.escape(kernel.name)}\(")
        lines = [number for number, line in enumerate(text.split("\n"), 1) if call.match(line)]
        kernels.append(replace(kernel, times=tuple(times.get((kernel.name, line)) for line in lines)))
    return replace(wrapper, kernels=tuple(kernels))


def compiled_wrapper(wrapper: Wrapper, compile_id: str) -> CompiledWrapper:
    """What a program has loaded, as data."""
    maps = wrapper.maps
    kernels = tuple(_kernel(wrapper, each) for each in wrapper.kernels)
    return CompiledWrapper(compile_id, maps.kind if maps else None, wrapper.file, kernels, maps is not None)


def _kernel(wrapper: Wrapper, kernel: Kernel) -> CompiledKernel:
    found = wrapper.map_of(kernel)
    uses = found.uses if found else ()
    nodes = {each.name: each for each in wrapper.maps.nodes} if wrapper.maps else {}
    computed = tuple(dict.fromkeys(name for use in uses for name in use.nodes))
    modules = tuple(dict.fromkeys(nodes[name].module or "" for name in computed if name in nodes))
    source = kernel.source.split("\n")
    lines = tuple(line for call, use in enumerate(uses, 1) for line in _lines(call, use, nodes, source, kernel.before))
    size = uses[0].bytes if uses else None
    loops = tuple(loop_nests(source))
    return CompiledKernel(kernel.name, kernel.file, max(1, len(uses)), computed, modules, loops, size, lines)


def _lines(
    call: int, use: KernelUse, nodes: dict[str, GraphNode], source: list[str], before: int
) -> Iterator[MappedKernelLine]:
    for line in use.lines:
        node = nodes[line.node]
        origin = f"{node.origin_file}:{node.origin_line}" if node.origin_file else None
        held = tuple(f"{each.node}[{', '.join(each.element)}]" for each in line.holds)
        text = source[line.line - 1].strip()
        yield MappedKernelLine(
            call, line.line + before, text, line.kind, line.node, node.captured, node.module, origin, held, line.reads
        )


def loop_nests(source: list[str]) -> Iterator[str]:
    """The ranges of each nest of loops in a kernel's text, by how it is indented."""
    nest: list[tuple[int, str]] = []
    for text in source:
        found = _LOOP.match(text)
        if not found:
            continue
        depth = len(found[1])
        if nest and depth <= nest[0][0]:
            yield _shown(nest)
            nest = []
        nest = [each for each in nest if each[0] < depth] if nest and depth <= nest[-1][0] else nest
        nest.append((depth, _plain(found[4])))
    if nest:
        yield _shown(nest)


def _shown(nest: list[tuple[int, str]]) -> str:
    return " x ".join(size for _, size in nest)


def _plain(size: str) -> str:
    cast = _CAST.fullmatch(size)
    return (cast[1] if cast else size).removesuffix("L")

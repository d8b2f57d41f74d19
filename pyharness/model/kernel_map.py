"""Source map of a kernel that torch.compile generated: line of C++ ↔ FX node ↔ module path ↔ the user's line."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal

from pyharness.model.frames import FxPlace
from pyharness.model.frozen import frozen
from pyharness.model.text.json_lines import parsed

VERSION = 5
"""Version of the file that ``KernelMaps`` is kept in."""

GraphKind = Literal["forward", "backward", "inference"]
LineKind = Literal["value", "load", "store", "index", "mask", "check", "init", "accumulate", "combine"]
"""What a line does for its node; the last three are a reduction's: before, in and after its loop."""


@frozen
class GraphNode:
    """A node of the graph that was lowered, which is what remains of the user's after torch's own passes."""

    name: str
    target: str
    module: str | None
    origin_file: str | None
    origin_line: int | None
    captured: str | None = None
    """The call that it came from, as Dynamo names that: ``gelu`` for ``erf``."""
    shape: tuple[int | None, ...] | None = None
    """Sizes of its tensor, ``None`` for one that a call decides; ``None`` for all where that is no tensor."""
    assigned: str | None = None
    """The node of Dynamo's graph that this one came from, named after the variable of yours where there is one."""

    @property
    def place(self) -> FxPlace:
        """The part that a frame shows."""
        origin = f"{self.origin_file}:{self.origin_line}" if self.origin_file else None
        return FxPlace(self.name, self.module, origin)


@frozen
class Held:
    """A variable of a line is this element of a node's value."""

    node: str
    element: tuple[str, ...]
    """The index in each dimension, as Python over the loops' variables; ``()`` is a scalar's."""


@frozen
class KernelLine:
    """One line of C++ that works for a node."""

    line: int
    """1-based, of the kernel's file; of a kernel that a wrapper in C++ calls, counted from the line that defines it."""
    node: str
    kind: LineKind
    variable: str | None = None
    """The variable that the line defines."""
    holds: tuple[Held, ...] = ()
    """What the variable is; empty for a step on the way to a value."""
    lanes: tuple[tuple[str, str], ...] = ()
    """The loops' variables along which the variable is a vector, each with its number of lanes as Python."""
    reads: str | None = None
    """The node whose value is loaded."""
    mask: str | None = None
    """The variable that says for which elements the line counts; the others are not of the node."""


@frozen
class KernelBuffer:
    """What a kernel's pointer points to."""

    name: str
    """The pointer's name in the kernel: ``in_ptr0``."""
    dtype: str
    """``float32``."""
    shape: tuple[str, ...]
    """Sizes, as Python over the sizes that the kernel takes."""
    strides: tuple[str, ...]
    """In elements, as sizes are."""


@frozen
class KernelUse:
    """What one call of a kernel computes: equal code is one kernel, which several layers call."""

    nodes: tuple[str, ...]
    """All that are computed, in the order of the graph."""
    lines: tuple[KernelLine, ...]
    bytes: int | None = None
    """Size of all tensors that the kernel reads and writes; ``None`` where their shapes are not known."""
    buffers: tuple[KernelBuffer, ...] = ()
    """What its pointers point to, as far as it is known."""
    template: str | None = None
    """The node that a template of torch's computes, such as a matrix product: its lines are of no other."""


@frozen
class KernelMap:
    """One kernel of a graph."""

    name: str
    """Name that the wrapper calls it by: ``cpp_fused_add_gelu_0``."""
    digest: str
    """Digest of the kernel's text, of one for C++ that of its definition: a map of another text says nothing."""
    uses: tuple[KernelUse, ...]
    """In the order of the wrapper's calls."""


@frozen
class WrapperCall:
    """A line of a wrapper that calls a kernel, or a function of torch's."""

    line: int
    """1-based, of the wrapper's file."""
    nodes: tuple[str, ...]
    """All that the call computes, in the order of the graph."""


@frozen
class KernelMaps:
    """The kernels of one graph, kept under the digest of the wrapper that calls them."""

    torch: str
    """The version of torch that generated them."""
    kind: GraphKind
    nodes: tuple[GraphNode, ...]
    kernels: tuple[KernelMap, ...]
    calls: tuple[WrapperCall, ...] = ()
    is_cxx: bool = False
    """Whether the wrapper is C++, as for AOTInductor: its file has kernels, too, or another one has them all."""

    def dump(self) -> str:
        """JSON text, which ``load`` reads back."""
        kernels = [
            {"name": each.name, "digest": each.digest, "uses": [_dump_use(use) for use in each.uses]}
            for each in self.kernels
        ]
        nodes = [vars(each) for each in self.nodes]
        calls = [vars(each) for each in self.calls]
        head = {"version": VERSION, "torch": self.torch, "kind": self.kind, "is_cxx": self.is_cxx}
        return json.dumps({**head, "nodes": nodes, "kernels": kernels, "calls": calls})


def load(text: str) -> KernelMaps:
    """Read what ``KernelMaps.dump`` wrote; ``ValueError``, ``KeyError`` or ``TypeError`` where it is something else."""
    data = parsed(text)
    if data.get("version") != VERSION:
        raise ValueError(f"not a map of kernels of version {VERSION}")
    nodes = tuple(_load_node(each) for each in data["nodes"])
    kernels = tuple(
        KernelMap(each["name"], each["digest"], tuple(_load_use(use) for use in each["uses"]))
        for each in data["kernels"]
    )
    calls = tuple(WrapperCall(each["line"], tuple(each["nodes"])) for each in data["calls"])
    return KernelMaps(data["torch"], data["kind"], nodes, kernels, calls, data["is_cxx"])


def _load_node(data: dict[str, Any]) -> GraphNode:
    shape = data.get("shape")
    return GraphNode(**{**data, "shape": None if shape is None else tuple(shape)})


def _dump_use(use: KernelUse) -> dict[str, Any]:
    lines, buffers = [_dump_line(each) for each in use.lines], [vars(each) for each in use.buffers]
    return {"nodes": use.nodes, "bytes": use.bytes, "lines": lines, "buffers": buffers, "template": use.template}


def _dump_line(line: KernelLine) -> dict[str, Any]:
    """What a line has; most have little."""
    held = [{"node": each.node, "element": each.element} for each in line.holds]
    return {name: value for name, value in {**vars(line), "holds": held}.items() if value}


def _load_use(data: dict[str, Any]) -> KernelUse:
    buffers = (KernelBuffer(**{**each, **_tuples(each)}) for each in data["buffers"])
    lines = tuple(map(_load_line, data["lines"]))
    return KernelUse(tuple(data["nodes"]), lines, data["bytes"], tuple(buffers), data["template"])


def _tuples(buffer: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    return {"shape": tuple(buffer["shape"]), "strides": tuple(buffer["strides"])}


def _load_line(data: dict[str, Any]) -> KernelLine:
    holds = tuple(Held(each["node"], tuple(each["element"])) for each in data.get("holds", ()))
    lanes = tuple((variable, count) for variable, count in data.get("lanes", ()))
    return KernelLine(**{**data, "holds": holds, "lanes": lanes})


def digest_of(text: str) -> str:
    """What names a text: of a wrapper or of a kernel."""
    return hashlib.sha256(text.encode()).hexdigest()

"""What an FX graph looked like at one moment: its nodes, its generated code, and where each node came from."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyharness.model.errors import UsageError, nearest
from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@frozen
class GraphNode:
    """One node."""

    name: str
    op: str
    """``fx.Node.op``: placeholder, call_function, call_method, call_module, get_attr or output."""
    target: str
    """Readable target, e.g. ``torch.ops.pyharness.rms_norm.default`` or ``blocks.0.norm``."""
    module: str | None
    """Path of the module that made it: empty for the root; ``None`` for the output, and where nobody recorded it."""
    line: int | None
    """1-based first line of its statement in the generated code; ``None`` where it has none."""
    last_line: int | None
    origin_file: str | None
    origin_line: int | None
    inputs: tuple[str, ...]
    """Names of the nodes that it uses, in order, each once."""
    arguments: str
    """What it is called with, as text: ``x, 2, dim=1``."""
    kind: str = ""
    """Class of the module that a call_module node calls, or of what a get_attr node reads."""
    shape: str = ""
    """The shape of the node's value, e.g. ``float32[8, 64]``; empty where it is not known."""

    @property
    def origin(self) -> str | None:
        """The user's line, as ``FILE:LINE``."""
        return f"{self.origin_file}:{self.origin_line}" if self.origin_file else None

    def to_json(self) -> dict[str, Any]:
        """The object that ``pyharness fx show --json`` prints."""
        shown = ("name", "op", "target", "module", "line", "origin")
        return {name: getattr(self, name) for name in shown}


@frozen
class KernelNode:
    """A node that one call of a kernel computes."""

    name: str
    stored: bool
    """Whether the kernel writes its value to memory; other kernels that need it may compute it again."""
    lines: tuple[int, ...] = ()
    """The lines of C++ that work for it."""


@frozen
class KernelBox:
    """One call of a kernel that inductor made of some of a graph's nodes."""

    name: str
    """Name that the wrapper calls it by: ``cpp_fused_add_gelu_0``."""
    file: str | None
    """Path of its ``.cpp``; ``None`` where torch wrote none."""
    call: int
    """Equal code is one kernel: which of its calls this is, counted from 1."""
    calls: int
    nodes: tuple[KernelNode, ...]
    """In the order of the graph."""

    @property
    def title(self) -> str:
        """The name, with the number of the call where there are several."""
        return f"{self.name}, call {self.call} of {self.calls}" if self.calls > 1 else self.name


@frozen
class Graph:
    """A graph and the ``forward`` that was generated from it."""

    name: str
    """Class of the GraphModule."""
    code: str
    nodes: tuple[GraphNode, ...]
    file: str = ""
    """Where the code lies; empty where it has no file."""
    kernels: tuple[KernelBox, ...] = ()
    """What inductor made of it, in the order in which its wrapper calls them."""

    @cached_property
    def by_name(self) -> Mapping[str, GraphNode]:
        """Each node."""
        return {node.name: node for node in self.nodes}

    def statement(self, node: GraphNode) -> str:
        """The generated lines of ``node``, without what only frees values; empty where it has none."""
        if node.line is None or node.op == "placeholder":
            return ""
        lines = self.code.split("\n")[node.line - 1 : node.last_line or node.line]
        return without_frees(" ".join(line.strip() for line in lines))

    def with_shapes(self, shapes: Mapping[str, str]) -> Graph:
        """With the shapes that were seen in a run."""
        nodes = tuple(replace(node, shape=shapes.get(node.name) or node.shape) for node in self.nodes)
        return replace(self, nodes=nodes)

    def to_json(self) -> dict[str, Any]:
        """``{"nodes": [...]}``."""
        return {"nodes": [node.to_json() for node in self.nodes]}


_FREES = re.compile(r"\s*;\s*(?:\w+ = )+None\s*(?:#.*)?$")


def without_frees(statement: str) -> str:
    """``relu = torch.relu(x)`` of ``relu = torch.relu(x);  x = None``."""
    return _FREES.sub("", statement)


@frozen
class MadeGraph:
    """A GraphModule that a program made, and what it was after each time that its code was generated."""

    number: int
    """Counted from 1, in the order in which they were made."""
    name: str
    """Class of the GraphModule, with a number behind it where several are called the same."""
    maker: str
    """Who made it: ``torch.fx``, ``torch.compile``, ``AOT backward``, ``torch.export``, ..."""
    versions: tuple[Graph, ...]
    dropped: int = 0
    """How many versions between the first one and the second one shown were not kept."""

    def version(self, number: int) -> Graph:
        """Version ``number``, counted from 1; ``UsageError`` where there is none."""
        index = number - 1 - (self.dropped if number > 1 else 0)
        if number < 1 or number > self.count or (self.dropped and 1 < number <= 1 + self.dropped):
            kept = f"1 and {self.dropped + 2} to {self.count}" if self.dropped else f"1 to {self.count}"
            versions = "only version 1" if self.count == 1 else f"versions {kept}"
            raise UsageError(f"{self.name} has no version {number}.", f"It has {versions}.")
        return self.versions[index]

    @property
    def count(self) -> int:
        """How many versions there were."""
        return len(self.versions) + self.dropped

    @property
    def last(self) -> Graph:
        """What it became."""
        return self.versions[-1]

    def to_json(self) -> dict[str, Any]:
        """Everything."""
        return asdict(self)


_VERSION = re.compile(r"^(.*?)@(\d+)$")


@frozen
class Chosen:
    """One version of a graph that a program made."""

    made: MadeGraph
    version: int

    @property
    def graph(self) -> Graph:
        """What it was then."""
        return self.made.version(self.version)

    @property
    def title(self) -> str:
        """How to name it: ``Model``, ``Model@2`` where there are several versions."""
        return f"{self.made.name}@{self.version}" if self.made.count > 1 else self.made.name

    def to_json(self) -> dict[str, Any]:
        """``{"number", "name", "maker", "version", "nodes": [...]}``."""
        made = self.made
        head = {"number": made.number, "name": made.name, "maker": made.maker, "version": self.version}
        return {**head, **self.graph.to_json()}


def select(made: Sequence[MadeGraph], which: str) -> Chosen:
    """The graph that ``which`` names: ``NAME`` or ``NUMBER``, ``@VERSION`` behind it or alone where there is one graph.

    Raises ``UsageError`` with the nearest names.
    """
    match = _VERSION.match(which)
    name = match[1] if match else which
    found = [each for each in made if name in {each.name, str(each.number)}]
    if not name and len(made) == 1:
        found = list(made)
    if not found and not name:
        raise UsageError("Which graph?", f"Name one with --graph. {_which(made, name)}")
    if not found:
        raise UsageError(f"There is no graph {name!r}.", _which(made, name))
    chosen = Chosen(found[0], int(match[2]) if match else found[0].count)
    found[0].version(chosen.version)  # or it says which there are
    return chosen


def _which(made: Sequence[MadeGraph], name: str) -> str:
    known = ", ".join(f"{each.number} {each.name}" for each in made[:_SHOWN])
    more = f" and {len(made) - _SHOWN} more" if len(made) > _SHOWN else ""
    return f"{nearest(name, [each.name for each in made])} The program made {known}{more}.".strip()


_SHOWN = 12

"""Whether a compiled model does what it does eagerly: equal, or the first kernel, node and element that are wrong."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

from pyharness.model.frozen import frozen
from pyharness.model.results.verdict import Difference, DifferenceError, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyharness.model.kernel_map import GraphKind
    from pyharness.model.text.styled_line import Line

KernelFaultKind = Literal["value", "buffer", "stale", "store", "output", "rounding"]
REASONS: dict[KernelFaultKind, str] = {
    "value": "it computes something else from the same inputs",
    "buffer": "it reads a buffer that holds another node's value",
    "stale": "it reads a buffer that was overwritten before",
    "store": "it computes the right value, and stores it elsewhere or not at all",
    "output": "the graph gives back another value in its place",
    "rounding": "it compares numbers that only rounding makes differ: eager mode has rounded them, the loop has not",
}
"""What can be wrong, and how a person says it."""


@frozen
class KernelFault:
    """A node that compiled code computes wrongly."""

    graph: GraphKind
    graph_id: str
    """torch's compile id."""
    kernel: str
    """What the wrapper calls: ``cpp_fused_add_0``, or a function of torch's, ``extern_kernels.mm``."""
    file: str
    """The ``.cpp`` of the kernel; the wrapper where torch's own function is called."""
    line: int
    text: str
    wrapper: str
    wrapper_line: int
    wrapper_text: str
    node: str
    target: str
    captured: str | None
    """The user's call that it came from, as torch names that: ``gelu`` for ``erf``."""
    module: str | None
    origin_file: str | None
    origin_line: int | None
    kind: KernelFaultKind
    reason: str
    element: tuple[int, ...]
    """The first that is wrong, in the order of memory."""
    expected: complex
    actual: complex
    difference: Difference
    through: tuple[str, ...] = ()
    """Nodes between it and values known to be right, which the kernel never has by themselves: they may be wrong."""


@frozen
class Reproduction:
    """A folder that runs the graph with the fault by itself."""

    script: str
    fails: bool
    """Whether it did when it was tried."""
    said: str
    step: str
    """The command that stops at the fault."""


@frozen
class CompiledVerdict:
    """Whether a compiled model does what it does eagerly. True and false as its ``ok``."""

    ok: bool
    graphs: int
    kernels: int
    """Calls of kernels that were compared."""
    nodes: int
    """Nodes that were compared, each time they were computed."""
    first: KernelFault | None = None
    """The first in order of execution."""
    others: tuple[KernelFault, ...] = ()
    """What is wrong even with the right inputs: each is found by itself."""
    outputs: tuple[Difference, ...] = ()
    gradients: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()
    script: Reproduction | None = None

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return "\n".join(line.text for line in self.lines())

    def __repr__(self) -> str:
        return f"<CompiledVerdict: {self.headline}>"

    @property
    def headline(self) -> str:
        """The verdict in one line."""
        if self.ok:
            return "equal"
        if self.first is not None:
            place = f"{self.first.file}:{self.first.line}"
            return f"first difference in {self.first.kernel} ({place}) at node {self.first.node}: {self.first.reason}"
        found = [f"{each.path}: {each.message}".removeprefix(": ") for each in (*self.outputs, *self.gradients)]
        return f"different: {found[0]}" if found else "different"

    def lines(self) -> Iterator[Line]:
        """The verdict as lines of text for people."""
        from pyharness.model.results.compiled_verdict_text import compiled_verdict_lines

        return compiled_verdict_lines(self)

    def check(self) -> CompiledVerdict:
        """Give this verdict back where it is ``ok``; otherwise raise ``DifferenceError``."""
        if not self.ok:
            raise DifferenceError(self)
        return self

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        data: dict[str, Any] = plain(asdict(self))
        return {"headline": self.headline, **data}

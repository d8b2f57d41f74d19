"""What torch.compile made of a program: graphs, where and why they break off, guards, recompilations."""

from __future__ import annotations

from dataclasses import asdict, field
from typing import Any, Literal

from pyharness.model.frozen import frozen
from pyharness.model.results.kernels import CompiledWrapper  # noqa: TC001  (read from JSON by its annotation)

Kind = Literal["captured", "forward", "backward", "inference"]
"""``captured`` is what Dynamo took from the user's code; the others are what AOT autograd made of it and what runs."""


@frozen
class Place:
    """A line of the user's."""

    file: str
    line: int
    source: str = ""
    """The text of the line, stripped."""


@frozen
class CompiledGraph:
    """One graph with its file."""

    kind: Kind
    file: str
    """The generated code; its source map lies beside it."""
    nodes: int
    """Operations: neither inputs nor the output."""


@frozen
class Break:
    """Why Dynamo ended a graph before the function's end."""

    reason: str
    """In one line."""
    detail: str
    """All that torch says of it."""
    place: Place | None


@frozen
class Guard:
    """What must hold for compiled code to be used again."""

    kind: str
    """torch's name for the check, such as ``TENSOR_MATCH``."""
    text: str
    """The check as Python."""
    place: Place | None = None
    """The line that made torch depend on it."""


@frozen
class FailedGuard:
    """A guard of an earlier compilation that did not hold, and so led to another one."""

    compilation: str
    """The earlier one, such as ``0/0``."""
    text: str
    place: Place | None = None


@frozen
class Compilation:
    """One time that Dynamo compiled one function, from its start or from where an earlier graph broke off."""

    id: str
    """torch's compile id: ``FRAME/RECOMPILATION``."""
    function: str
    """Qualified name where Python knows it."""
    place: Place
    """The function's first line."""
    resumed_at: int | None = None
    """The line that it goes on from after a graph break."""
    graphs: tuple[CompiledGraph, ...] = ()
    ended_by: Break | None = None
    guards: tuple[Guard, ...] | None = None
    """``None`` where torch had dropped them before anyone looked (``torch.compiler.reset``)."""
    failed_guards: tuple[FailedGuard, ...] = ()
    """Why it was compiled again; empty for the first time."""

    @property
    def name(self) -> str:
        """Function and line that it goes on from, as in ``Net.forward:12``."""
        return f"{self.function}:{self.resumed_at}" if self.resumed_at else self.function


@frozen
class NotCompiled:
    """A function that Dynamo gave up on; it runs as Python wrote it."""

    id: str
    function: str
    place: Place
    reason: str
    detail: str = ""
    at: Place | None = None
    """The line that could not be compiled."""


@frozen
class CompileReport:
    """Everything that torch.compile did in a process with the backends ``pyharness`` and ``inductor``, in order."""

    compilations: tuple[Compilation, ...] = ()
    not_compiled: tuple[NotCompiled, ...] = ()
    notes: tuple[str, ...] = field(default=())
    """What could not be found out, and why."""
    wrappers: tuple[CompiledWrapper, ...] = ()
    """What inductor made of graphs: the default backend, or ``backend="inductor"``."""

    @property
    def breaks(self) -> tuple[Break, ...]:
        """Each graph break once for each place and reason."""
        found = [each.ended_by for each in self.compilations if each.ended_by]
        return tuple({(each.reason, each.place): each for each in found}.values())

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    def __str__(self) -> str:
        from pyharness.model.results.compiled_text import report_lines

        return "\n".join(line.text for line in report_lines(self))

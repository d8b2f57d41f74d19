"""Loop bodies: for whom each operation of a fused loop is, and which element of a node's value it yields.

Inductor traces the body of a loop to a small graph of its own. Later it merges, splits and reorders loops: the body is
copied with other indices, or traced again from the old one. Notes on its operations go along; the indices that they
have are replaced only when a line is written.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyharness.fx.inductor.merging import replaced_in, unmerged
from pyharness.fx.inductor.private import replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyharness.fx.inductor.lowering import Lowering, Maker
    from pyharness.fx.inductor.private import Private

_NOTE = "pyharness_kernel"
"""The key in an operation's ``meta``."""
_STEPS = "pyharness_steps"
"""The attribute of a ``LoopBody``: how its indices became others, one replacement after the other."""


@dataclass(eq=False)
class Note:
    """On an operation of a loop body."""

    maker: Maker
    yields: list[tuple[Maker, tuple[Any, ...] | None]]
    """The loops whose element it is, each with the index of that element."""


@dataclass(eq=False)
class Run:
    """A body that runs: to be traced anew, or to become code."""

    body: Any
    replacement: dict[Any, Any]

    def element(self, index: Sequence[Any] | None) -> tuple[Any, ...] | None:
        """An index of a note as it is now; ``None`` where that cannot be told."""
        for step in (*getattr(self.body, _STEPS, ()), self.replacement):
            if index is None or step is None:
                return None
            index = replaced_in(index, step)
        return None if index is None else tuple(index)


class _Runs(threading.local):
    def __init__(self) -> None:
        self.all: list[Run] = []


class Bodies:
    """Follows the bodies of loops."""

    def __init__(self, private: Private) -> None:
        self._private = private
        self._runs = _Runs()
        self._lowering: Lowering

    def install(self, lowering: Lowering) -> None:
        """Wrap the functions of torch's that trace, copy and run bodies."""
        self._lowering = lowering
        bodies = self._private.loop_body
        replaced(bodies.LightTracer, "create_node", self._traced)
        replaced(bodies.LoopBody, "_init_with_copy", self._copied)
        replaced(bodies.LoopBody, "__call__", self._run)
        replaced(bodies.LoopBody, "replace_indirect", self._indirect)

    @property
    def run(self) -> Run | None:
        """The body that runs in this thread."""
        return self._runs.all[-1] if self._runs.all else None

    def computed(self, result: Any, maker: Maker, index: Sequence[Any]) -> None:
        """Note that a function of ``maker`` has just yielded ``result`` as its element ``index``."""
        note = self.note(_operation(result)) if not self._runs.all else None
        if note is not None:
            note.yields.append((maker, tuple(index)))

    def note(self, operation: Any) -> Note | None:
        """What is known of an operation; a conversion that torch puts in later is its operand's."""
        if operation is None:
            return None
        found: Note | None = operation.meta.get(_NOTE)
        if found is None and operation.op == "call_method" and operation.target == "to_dtype":
            operand = self.note(operation.args[1])
            found = operand and Note(operand.maker, operand.yields)
        return found

    def _traced(self, original: Callable[..., Any], tracer: Any, *args: Any, **named: Any) -> Any:
        operation = original(tracer, *args, **named)
        run, makers = self.run, self._lowering.running.makers
        if run is not None:
            old = self.note(getattr(self._private.virtualized.V.interpreter, "current_node", None))
            if old is not None:
                yields = [(maker, run.element(index)) for maker, index in old.yields]
                operation.meta[_NOTE] = Note(old.maker, yields)
        elif makers:
            operation.meta[_NOTE] = Note(makers[-1], [])
        return operation

    def _copied(self, original: Callable[..., Any], body: Any, other: Any, args: Any, *more: Any) -> None:
        original(body, other, args, *more)
        setattr(body, _STEPS, (*getattr(other, _STEPS, ()), unmerged(body, other, args)))

    def _run(self, original: Callable[..., Any], body: Any, *indices: Any, **named: Any) -> Any:
        self._runs.all.append(Run(body, _replacement(body, indices)))
        try:
            return original(body, *indices, **named)
        finally:
            self._runs.all.pop()

    def _indirect(self, original: Callable[..., Any], body: Any, old: Any, new: Any) -> Any:
        """An index that is read from memory has become a variable."""
        if self.run is not None:
            self.run.replacement[old] = new
        return original(body, old, new)


def _replacement(body: Any, indices: Sequence[Sequence[Any]]) -> dict[Any, Any]:
    return dict(zip(body.var_ranges, (each for some in indices for each in some)))  # noqa: B905  (CPython 3.9)


def _operation(result: Any) -> Any:
    """The operation that a traced value is; ``None`` for a constant, an index, and while nothing is traced."""
    from torch.fx import Proxy

    for _ in range(3):
        if isinstance(result, Proxy):
            return result.node
        if getattr(result, "is_symbolic", False):
            return None
        result = getattr(result, "value", None)
    return None

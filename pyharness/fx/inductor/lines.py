"""The lines of kernels as they are written: each is marked with the operation of a loop body that it is written for."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pyharness.fx.inductor.marks import clean, marked
from pyharness.fx.inductor.private import replaced

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.fx.inductor.bodies import Bodies, Note, Run
    from pyharness.fx.inductor.lowering import Maker
    from pyharness.fx.inductor.private import Private

    Phase = Literal["init", "accumulate", "combine"]

_COMBINE = (
    "reduction_suffix",
    "parallel_reduction_suffix",
    "non_parallel_reduction_suffix",
    "local_reduction_stores",
)
_REDUCES = {"reduction", "scan", "sort", "partial_accumulate"}


@dataclass(eq=False)
class Written:
    """Why lines are written: an operation of a body, which becomes code of one kernel."""

    operation: Any
    kernel: Any
    run: Run | None
    phase: Phase | None
    mask: str | None
    """The variable that says for which elements the line counts."""


@dataclass(eq=False)
class Variable:
    """What a variable of a kernel is."""

    yields: list[tuple[Maker, tuple[Any, ...]]]
    vector: bool
    buffer: str | None = None
    """The buffer that it was loaded from."""


class _Writing(threading.local):
    """What one thread has written of a graph."""

    def __init__(self) -> None:
        self.forced: list[int] = []
        self.begin()

    def begin(self) -> None:
        self.written: list[Written] = []
        self.numbers: dict[Any, int] = {}
        self.variables: dict[tuple[int, str], Variable] = {}


class Lines:
    """Follows what is written for kernels, graph by graph."""

    def __init__(self, private: Private, bodies: Bodies) -> None:
        self._private = private
        self._bodies = bodies
        self._writing = _Writing()

    def install(self) -> None:
        """Wrap the functions of torch's that write lines and name variables."""
        private = self._private
        replaced(private.utils.IndentedBuffer, "writeline", self._write)
        replaced(private.common.CSE, "augment_key", lambda original, cse, key: original(cse, _cleaned(key)))
        replaced(private.cpp.CppKernel, "_gen_reduction_prefix", self._prefix)
        replaced(private.loop_body.InterpreterShim, "run_node", self._operate)

    def why(self, number: int) -> Written:
        """What lines with this mark were written for."""
        return self._writing.written[number]

    def variable(self, kernel: Any, name: str | None) -> Variable | None:
        """What a variable of ``kernel`` is, if it is an element of a node's value."""
        return self._writing.variables.get((id(kernel), name)) if name else None

    def forget(self) -> None:
        """The graph is code now."""
        self._writing.begin()

    def _write(self, original: Callable[..., Any], buffer: Any, line: Any) -> None:
        number = self._number(buffer)
        if number is not None:
            if isinstance(line, str):
                line = marked(line, number)
            elif isinstance(line, self._private.utils.DeferredLineBase) and line.line:
                line = line._new_line(marked(line.line, number))  # noqa: SLF001  (torch's own way to do it)
        original(buffer, line)

    def _number(self, buffer: Any) -> int | None:
        if self._writing.forced:
            return self._writing.forced[-1]
        virtual = self._private.virtualized.V
        operation = getattr(virtual.interpreter, "current_node", None)
        kernel = virtual.kernel
        if operation is None or not isinstance(kernel, self._private.cpp.CppKernel):
            return None
        return self._number_of(operation, kernel, _phase(operation, kernel, buffer))

    def _number_of(self, operation: Any, kernel: Any, phase: Phase | None) -> int:
        writing, run = self._writing, self._bodies.run
        mask = getattr(kernel, "_load_mask", None)  # of a masked operation: for its body, and none for its result
        key = (operation, id(kernel), id(run), phase, mask)
        if key not in writing.numbers:
            writing.numbers[key] = len(writing.written)
            writing.written.append(Written(operation, kernel, run, phase, None if mask is None else str(mask)))
        return writing.numbers[key]

    def _operate(self, original: Callable[..., Any], interpreter: Any, operation: Any) -> Any:
        result = answer = original(interpreter, operation)
        note, kernel, run = self._bodies.note(operation), self._private.virtualized.V.kernel, self._bodies.run
        if note and run and isinstance(kernel, self._private.cpp.CppKernel):
            if isinstance(result, self._private.virtualized.OpsValue):
                result = result.value
            if isinstance(result, self._private.common.CSEVariable):
                self._name(result, operation, note, kernel, run)
        return answer

    def _name(self, variable: Any, operation: Any, note: Note, kernel: Any, run: Run) -> None:
        """Note what ``variable`` is, which an operation has become."""
        vector = bool(getattr(variable, "is_vec", False))
        known = self._writing.variables.setdefault((id(kernel), str(variable)), Variable([], vector))
        if operation.target == "load":
            known.buffer = operation.args[1]
        found = ((maker, run.element(index)) for maker, index in note.yields)
        known.yields += [(maker, element) for maker, element in found if element is not None]

    def _prefix(self, original: Callable[..., Any], kernel: Any, *args: Any, **named: Any) -> Any:
        """How an accumulator begins is written later, when it is known whether it is one or an array."""
        generate = original(kernel, *args, **named)
        operation = getattr(self._private.virtualized.V.interpreter, "current_node", None)
        if operation is None:
            return generate
        number = self._number_of(operation, kernel, "init")

        def generating(*args: Any, **named: Any) -> Any:
            self._writing.forced.append(number)
            try:
                made = generate(*args, **named)
            finally:
                self._writing.forced.pop()
            return marked(made, number) if isinstance(made, str) else made

        return generating


def _phase(operation: Any, kernel: Any, buffer: Any) -> Phase | None:
    """Where the buffer that is written to will stand; what is put into another buffer first begins an accumulator."""
    if operation.target not in _REDUCES:
        return None
    if buffer is kernel.stores or buffer is kernel.compute or buffer is kernel.loads:
        return "accumulate"
    return "combine" if any(buffer is getattr(kernel, name, None) for name in _COMBINE) else "init"


def _cleaned(key: Any) -> Any:
    return clean(key) if isinstance(key, str) else key

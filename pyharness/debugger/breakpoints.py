"""The places to stop at: kept as the user named them, bound as the code for them comes into being."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyharness.gdbmi.client import GdbError
from pyharness.model.code_lines import executable_line
from pyharness.model.errors import HarnessError, UsageError, nearest
from pyharness.model.places import names, statements
from pyharness.model.source_map import SourceMap, map_of
from pyharness.protocol.agent import op_place
from pyharness.protocol.mi import Break

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.debugger.native_side import NativeSide
    from pyharness.debugger.python_side import PythonSide
    from pyharness.model.where import Where
    from pyharness.protocol.agent import OpPlace

_UNSEEN = "That line or function was not seen to run"
_ELSEWHERE = (
    f"{_UNSEEN} in the program's own process. It started others, in which nothing stops from here:"
    ' in an editor `"subProcess": "debug"` debugs them too.'
)
_LEFT = (
    f"{_UNSEEN}. The program left the debugger before its end, as by os._exit, by becoming another program (os.exec),"
    " or by closing a connection that was not its own. What ran after that, or in a child of it, was not seen."
)
_FOLDER = "Set PYHARNESS_HOME to a folder that you can write."
_TRACE = "torch.fx.symbolic_trace, and torch.compile with the backend pyharness, make GraphModules."


@dataclass
class _Bound:
    """A place and where it lies in the program as far as it is loaded."""

    where: Where
    lines: list[tuple[str, int]] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    hint: str = ""

    @property
    def pending(self) -> bool:
        return not self.lines and not self.numbers


class Breakpoints:
    """Binds places to lines of generated and written Python, and to native addresses."""

    def __init__(self, python: PythonSide) -> None:
        self._python = python
        self._bound: list[_Bound] = []
        self._maps: dict[str, SourceMap] = {}
        self.place_of_number: dict[int, str] = {}
        """gdb's number of a native breakpoint → its name in ``names``, also of one that is removed."""
        self.on_ops: Callable[[tuple[OpPlace, ...]], None] = lambda _places: None
        """Makes known to the program which ops and autograd nodes to stop at, all of them each time."""
        self._ops: tuple[OpPlace, ...] = ()
        self.op_hints: dict[str, str] = {}
        """What the program said, as it ended, of ops that it does not have."""
        self.other_processes = False
        """Whether the program said, as it ended, that it had started others."""
        self.left_unseen = False
        """Whether the program exited and had not said before that it would end."""
        self.unfiled = ""
        """Why generated code of the program has no file: nothing can stop in it."""
        self.on_bound: Callable[[Where], None] = lambda _where: None
        """Called when a place has been found in code that was loaded."""
        self.on_problem: Callable[[Where, HarnessError], None] | None = None
        """Takes what is wrong with a place that binds late; without it, that is raised."""

    @property
    def wants_native(self) -> bool:
        """Whether a native place waits for its library."""
        return any(bound.where.kind == "native" and bound.pending for bound in self._bound)

    @property
    def names(self) -> set[str]:
        """The places that are set, with their conditions."""
        return {name_of(bound.where) for bound in self._bound}

    @property
    def places(self) -> list[Where]:
        """All places, as the user named them."""
        return [bound.where for bound in self._bound]

    def add(self, where: Where, native: NativeSide | None) -> None:
        """Stop at ``where`` from now on; native places need ``native`` once a library of the user's is loaded."""
        bound = _Bound(where)
        self._bound.append(bound)
        if where.kind == "py":
            line = executable_line(where.file, where.line)
            self._python.set_breakpoint(where.file, line, where.condition)
            bound.lines.append((where.file, line))
        elif where.kind == "native":
            if native:
                self.bind_native(native)
        else:
            for source_map in self._maps.values():
                self._bind_map(bound, source_map)
            self._tell_ops()

    def remove(self, where: Where, native: NativeSide | None) -> None:
        """Forget a place."""
        for bound in [entry for entry in self._bound if entry.where == where]:
            self._bound.remove(bound)
            for file, line in bound.lines if where.kind != "native" else ():
                self._python.clear_breakpoint(file, line)
            if native and native.alive:
                native.delete(bound.numbers)
        self._tell_ops()

    def _tell_ops(self) -> None:
        wanted = [bound.where for bound in self._bound if bound.where.is_native_op]
        ops = tuple(op_place(where, name_of(where)) for where in wanted)
        if ops != self._ops:
            self._ops = ops
            self.on_ops(ops)

    def generated(self, file: str) -> None:
        """torch.fx made code: bind what waits for a node of it."""
        source_map = map_of(file)
        if source_map is None:
            return
        self._maps[file] = source_map
        for bound in self._bound:
            if bound.where.is_generated:
                self._bind_map(bound, source_map)

    def _bind_map(self, bound: _Bound, source_map: SourceMap) -> None:
        where = bound.where
        for entry in statements(source_map, where.kind, where.name) if where.is_generated else ():
            if (source_map.file, entry.line) not in bound.lines:
                self._python.set_breakpoint(source_map.file, entry.line, where.condition)
                bound.lines.append((source_map.file, entry.line))
                self.on_bound(where)

    def bind_native(self, native: NativeSide) -> None:
        """Bind what waits for a library that may be loaded now."""
        for bound in list(self._bound):
            where = bound.where
            if where.kind != "native" or not bound.pending:
                continue
            address = int(where.name[1:], 16) if where.name.startswith("*") else 0
            try:
                answer = native.ask(Break(where.name, where.file, where.line, address, where.condition))
            except GdbError as error:
                self._bound.remove(bound)
                message, _, remedy = error.message.partition("\n")
                problem = (UsageError if where.condition else HarnessError)(message, remedy)
                if self.on_problem is None:
                    raise problem from error
                self.on_problem(where, problem)
                continue
            bound.numbers, bound.hint, bound.lines = list(answer.numbers), answer.hint, list(answer.places)
            self.place_of_number.update(dict.fromkeys(bound.numbers, name_of(where)))
            if bound.numbers:
                self.on_bound(where)

    def found(self, where: Where) -> list[tuple[str, int]]:
        """The lines that a place has been bound to."""
        return [line for bound in self._bound if bound.where == where for line in bound.lines]

    def is_bound(self, where: Where) -> bool:
        """Whether a place has been found in code that is loaded."""
        return any(bound.where == where and (where.is_native_op or not bound.pending) for bound in self._bound)

    def hint(self, where: Where) -> str:
        """What gdb said about a native place that it has not found: the nearest names."""
        return next((bound.hint for bound in self._bound if bound.where == where), "")

    @property
    def generated_files(self) -> list[str]:
        """The files of generated code, in the order in which the program made them."""
        return list(self._maps)

    def not_reached(self, where: Where) -> HarnessError:
        """The program ended and never came to ``where``: say why, with the nearest names."""
        if where.is_native_op:
            return self._op_not_reached(where)
        return self.missing(where) or HarnessError(f"The program ended without reaching {where}.", self._why())

    def _why(self) -> str:
        """What is known of a place that was there and not reached."""
        if self.left_unseen:
            return _LEFT
        return _ELSEWHERE if self.other_processes else f"{_UNSEEN}."

    def missing(self, where: Where) -> HarnessError | None:
        """The error that nothing which is loaded or was made so far has ``where``, with the nearest names."""
        bound = next((entry for entry in self._bound if entry.where == where), _Bound(where))
        if where.is_native_op or not bound.pending:
            return None
        if where.kind == "native":
            remedy = bound.hint or "Is it in a library with debug information (-g) that the program loads?"
            return UsageError(f"No loaded native code has {where}.", remedy)
        if self.unfiled and not self._maps:
            return HarnessError(f"Nothing can stop at {where}: {self.unfiled.partition('. ')[0]}.", _FOLDER)
        if not self._maps:
            return UsageError(f"There is no {where}: the program made no torch.fx GraphModule.", _TRACE)
        known = [name for source_map in self._maps.values() for name in names(source_map, where.kind)]
        remedy = (
            nearest(where.name, known) or f"Its graphs have, for example: {', '.join(list(dict.fromkeys(known))[:6])}"
        )
        return UsageError(f"No graph of the program has {where}.", remedy)

    def so_far(self, where: Where) -> str:
        """What lacks a place that is waited for while the program runs on; empty where nothing does."""
        problem = self.missing(where)
        if problem is None:
            return ""
        if where.is_generated and not self._maps and not self.unfiled:
            return "So far the program made no graph: it may still import torch, trace or compile."
        return f"So far: {problem.message} {problem.remedy}"

    def _op_not_reached(self, where: Where) -> HarnessError:
        if hint := self.op_hints.get(name_of(where)):
            message, _, remedy = hint.partition("\n")
            return UsageError(message, remedy)
        what = "Its condition never held" if where.when else f"No such {'op' if where.kind == 'op' else 'node'} ran"
        remedy = f"{what}. Nodes are named as torch does: MulBackward0." if where.kind == "node" else f"{what}."
        return HarnessError(f"The program ended without reaching {name_of(where)}.", remedy)


def name_of(where: Where) -> str:
    """The name of a place with its condition: what a native stop carries."""
    if where.when:
        return f"{where} when {where.when}"
    return f"{where} if {where.condition}" if where.condition else str(where)

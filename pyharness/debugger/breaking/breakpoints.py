"""The places to stop at: kept as the user named them, bound as the code for them comes into being."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from pyharness.debugger.breaking.breakpoint import LineInCxx
from pyharness.debugger.breaking.kernel_element import NO_SYMBOL, lines_of
from pyharness.debugger.breaking.unreached import Unreached
from pyharness.debugger.python.lines import condition_of
from pyharness.gdbmi.client import GdbError
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.kernel_elements import OPTIMIZED
from pyharness.model.kernel_files import is_cxx, may_have_kernels
from pyharness.model.places import names, statements
from pyharness.model.text.code_lines import executable_line
from pyharness.model.wrapper_map import map_of_generated
from pyharness.protocol.agent import op_place
from pyharness.protocol.mi import Break, FindFunction

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyharness.dapwire.message import Message
    from pyharness.debugger.breaking.breakpoint import Breakpoint
    from pyharness.debugger.listener import Listener
    from pyharness.debugger.native.side import NativeSide
    from pyharness.debugger.python.side import PythonSide
    from pyharness.model.source_map import SourceMap
    from pyharness.model.where import Where
    from pyharness.protocol.agent import OpPlace

_IN_FULL = "A function of a library of others is named in full: {}."
_MOST_OF_A_KIND = 64
_OTHER_FILES = "its engine and its generated code are not here"
_INSIDE = "Run pyharness in its container (`docker exec`), or name a py: or native: place."


class Breakpoints:
    """Binds places to lines of generated and written Python, and to native addresses."""

    def __init__(self, python: PythonSide, listener: Listener) -> None:
        self._python = python
        self._listener = listener
        self._set: list[Breakpoint] = []
        self._without_gdb: list[Breakpoint] = []
        """Breakpoints in native code that were refused because there is no gdb."""
        self._count = 0
        self._maps: dict[str, SourceMap] = {}
        self._kernels: dict[str, Sequence[str]] = {}
        """Wrapper of inductor's → the files of its kernels."""
        self.root = ""
        """What comes before the program's paths to make them ours; not empty for one in a container."""
        self.rank: int | None = None
        """The rank of a job that the program is, where it says so when it begins."""
        self.of_number: dict[int, Breakpoint] = {}
        """gdb's number → the breakpoint, also one that is removed."""
        self.tell_ops: Callable[[tuple[OpPlace, ...]], None] = lambda _places: None
        """Makes known to the program which ops and autograd nodes to stop at, all of them each time."""
        self._ops: tuple[OpPlace, ...] = ()
        self.has_stopped = False
        """Whether the program has stopped anywhere."""
        self.reasons = Unreached(self._maps)
        """Why what is set was not reached."""

    @property
    def wants_native(self) -> bool:
        """Whether a native place waits for its library."""
        return bool(self._waiting_native())

    @property
    def wants_function(self) -> bool:
        """Whether a native function is waited for, which a library of others may have, too."""
        return any(each.is_of_function and not each.function for each in self._waiting_native())

    def _waiting_native(self) -> list[Breakpoint]:
        waiting = [each for each in self._set if each.in_cxx or (each.where.kind == "native" and each.pending)]
        return [each for each in waiting if each not in self._without_gdb]

    def refuse_native(self, problem: HarnessError) -> None:
        """gdb cannot be had: nothing in native code stops. A function may still be one of Python's."""
        waiting = self._waiting_native()
        self._without_gdb += waiting
        for each in waiting:
            self._listener.refused(each, problem)

    @property
    def enabled(self) -> list[Breakpoint]:
        """All that are set."""
        return list(self._set)

    def of_op(self, known_as: str) -> Breakpoint | None:
        """The breakpoint that the program means by a name that it was given for an op."""
        return next((each for each in self._set if str(each.number) == known_as), None)

    def logged(self, number: int, text: str) -> None:
        """Hand on what the log point of this number printed, unless it has been removed since."""
        point = next((each for each in self._set if each.number == number), None)
        if point:
            self._listener.logged(point, text)

    def add(self, new: Breakpoint, native: NativeSide | None) -> None:
        """Stop there from now on; native places need ``native`` once a library of the user's is loaded."""
        where = new.where
        if self.root and (where.is_native_op or where.is_generated):
            raise HarnessError(
                f"Nothing can stop at {where} in a program that sees other files: {_OTHER_FILES}.", _INSIDE
            )
        self._check_count(where)
        self._begin(new)
        if new.function:
            self._tell_functions()
        if where.kind == "native":
            if native:
                self.bind_native(native)
            return
        if where.kind == "py" and where.line:
            self._bind_lines(new, where.file, [executable_line(self.root + where.file, where.line)])
            return
        for source_map in self._maps.values():
            self._bind_map(new, source_map)
        if native:
            self._bind_in_cxx(new, native)
        try:
            self._tell_ops()
        except HarnessError:  # there is no engine that could stop there
            self._forget(new)
            raise

    def _check_count(self, where: Where) -> None:
        """The engine watches so many of a kind at a time (csrc/breakpoints/active.h)."""
        alike = sum(each.where.is_native_op and each.where.kind == where.kind for each in self._set)
        if where.is_native_op and alike >= _MOST_OF_A_KIND:
            raise UsageError(
                f"There are {alike} {where.kind}: places already: {where} would be one too many.",
                f"Remove one, or name several by a pattern, as {where.kind}:*{where.name.rpartition(':')[2][:8]}*.",
            )

    def _begin(self, new: Breakpoint) -> None:
        self._count += 1
        new.number, new.lines, new.in_cxx, new.numbers, new.hint = self._count, [], [], [], ""
        new.is_later = self.has_stopped
        new.is_set = True
        self._set.append(new)

    def _forget(self, gone: Breakpoint) -> None:
        gone.is_set = False
        self._set.remove(gone)

    def replace_lines(self, file: str, gone: Sequence[Breakpoint], new: Sequence[Breakpoint]) -> dict[int, Message]:
        """Other breakpoints at lines of a Python file, in one request; line → what debugpy says of it.

        It moves each to the next line with code. Empty where debugpy cannot answer now.
        """
        for each in gone:
            self._forget(each)
        for each in new:
            self._begin(each)
            each.lines = [(file, each.where.line)]
        pairs = [[(each.where.line, each) for each in several] for several in (new, gone)]
        return self._python.change_breakpoints(file, *pairs)

    def remove(self, gone: Breakpoint, native: NativeSide | None) -> None:
        """Forget one; nothing where it is not set."""
        if gone not in self._set:
            return
        self._forget(gone)
        for file, line in gone.lines if gone.where.kind != "native" else ():
            if is_cxx(file):
                continue
            self._python.change_breakpoints(file, cleared=[(line, gone)])
        if native and native.alive:
            native.delete(gone.numbers)
        if gone.function:
            self._tell_functions()
        self._tell_ops()

    def _tell_functions(self) -> None:
        """debugpy knows functions by their bare names, and takes all of them together."""
        wanted = [each for each in self._set if each.function]
        entries = [{"name": each.function, "condition": condition_of([each]) or None} for each in wanted]
        sound = [{name: value for name, value in entry.items() if value} for entry in entries]
        self._python.deliver("setFunctionBreakpoints", {"breakpoints": sound})

    def _tell_ops(self) -> None:
        ops = tuple(
            op_place(each.where, str(each.number), at_lines=each.is_at_generated_lines)
            for each in self._set
            if each.where.is_native_op
        )
        if ops != self._ops:
            before, self._ops = self._ops, ops
            try:
                self.tell_ops(ops)
            except HarnessError:
                self._ops = before
                raise

    def generated(self, file: str, kernels: Sequence[str] = ()) -> None:
        """torch.fx or inductor made code: bind what waits for a node of it; in C++, when its library is loaded.

        ``kernels`` are the files of the kernels that a wrapper calls; empty where the program does not know them.
        """
        source_map = map_of_generated(file)
        if source_map is None:
            if is_cxx(file) and Path(file).is_file():
                self.reasons.unmapped = file
            return
        self._maps[file] = source_map
        self._kernels[file] = kernels or (may_have_kernels(file) if is_cxx(file) else ())
        for each in self._set:
            self._bind_map(each, source_map)

    def _bind_map(self, each: Breakpoint, source_map: SourceMap) -> None:
        where, file = each.where, source_map.file
        if where.element is not None:
            found, why = lines_of(where, file, self._kernels)
            each.in_cxx += [line for line in found if not _has(each, line)]
            each.hint = each.hint or why
        elif each.is_at_generated_lines:
            lines = {entry.line for entry in statements(source_map, where.kind, where.name)}
            new = [line for line in sorted(lines) if not _has(each, LineInCxx(file, line))]
            if is_cxx(file):
                each.in_cxx += [LineInCxx(file, line) for line in new]
            else:
                self._bind_lines(each, file, new)

    def _bind_lines(self, each: Breakpoint, file: str, lines: Sequence[int]) -> None:
        if lines:
            each.lines += [(file, line) for line in lines]
            self._python.change_breakpoints(file, [(line, each) for line in lines])
            self._listener.bound(each)

    def bind_native(self, native: NativeSide) -> None:
        """Bind what waits for a library that may be loaded now; a function may be in several.

        gdb itself looks for a line in each library that it reads.
        """
        for each in list(self._set):
            if each.where.kind == "native":
                if each.pending or each.is_of_function:
                    asked, each.within = _native(each, self.rank), None  # its frame stands now, not when there is more
                    self._bind(each, asked, native)
            else:
                self._bind_in_cxx(each, native)

    def _bind_in_cxx(self, each: Breakpoint, native: NativeSide) -> None:
        """Bind a place in a graph to the lines of generated C++ that it means, of files that are loaded."""
        for line in tuple(each.in_cxx):
            asked = replace(_native(each, self.rank), function="", file=PurePath(line.file).name, line=line.line)
            own, asks = line.condition, asked.condition
            both = f"({own}) && ({asks})" if own and asks else own or asks
            if self._bind(each, replace(asked, address=0, condition=both, node=line.node), native):
                each.in_cxx.remove(line)
            if not each.is_set:  # it was refused
                return

    def _bind(self, each: Breakpoint, asked: Break, native: NativeSide) -> bool:
        """Whether gdb has found a place."""
        try:
            answer = native.ask(asked)
        except GdbError as error:
            if each.pending:
                self._forget(each)
                message, _, remedy = error.message.partition("\n")
                if each.where.element is not None and NO_SYMBOL in message:
                    message, remedy = f"Nothing can stop at {each.where}.", OPTIMIZED
                problem = (UsageError if each.where.condition else HarnessError)(message, remedy)
                problem.__cause__ = error
                self._listener.refused(each, problem)
            return False
        each.numbers += answer.numbers
        each.lines += answer.places
        each.hint = answer.hint
        self.of_number.update(dict.fromkeys(answer.numbers, each))
        if answer.numbers:
            self._listener.bound(each)
        return bool(answer.numbers)

    def look_in_others(self, native: NativeSide) -> None:
        """Find the functions that nothing of the user's has in libraries of others, before the program ends."""
        for each in self._set:
            if each.where.kind != "native" or not (each.is_of_function and each.pending):
                continue
            with suppress(HarnessError):
                if found := native.ask(FindFunction(each.where.name)):
                    each.hint = f"{each.hint} {_IN_FULL.format(found[0].example('native:'))}".lstrip()

    def names(self, kind: str) -> list[str]:
        """What places of a kind, ``fx`` or ``op``, could name in the graphs that the program has made so far."""
        return list(dict.fromkeys(name for source_map in self._maps.values() for name in names(source_map, kind)))

    @property
    def generated_files(self) -> list[str]:
        """The files of generated code, in the order in which the program made them."""
        return list(self._maps)

    def not_reached(self, each: Breakpoint) -> HarnessError:
        """The program ended and never came there: say why, with the nearest names."""
        return self.reasons.not_reached(each, self.rank)


def _has(each: Breakpoint, line: LineInCxx) -> bool:
    """Whether it is bound to a line already, or waits for its library."""
    return (line.file, line.line) in each.lines or line in each.in_cxx


def _native(each: Breakpoint, rank: int | None) -> Break:
    where = each.where
    address = int(where.name[1:], 16) if where.name.startswith("*") else 0
    asked = Break(where.name, where.file, where.line, address, where.condition, hits=where.hits, log=each.log)
    if within := each.within:
        asked = replace(asked, thread=within.thread, level=within.level)
    return replace(asked, number=each.number, rank=rank, own=bool(each.function))

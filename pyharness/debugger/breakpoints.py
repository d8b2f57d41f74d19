"""The places to stop at: kept as the user named them, bound as the code for them comes into being."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from pyharness.debugger.python.lines import condition_of
from pyharness.gdbmi.client import GdbError
from pyharness.model.errors import HarnessError, UsageError, nearest
from pyharness.model.kernel_files import is_cxx
from pyharness.model.places import names, statements
from pyharness.model.text.code_lines import executable_line
from pyharness.model.wrapper_map import map_of_generated
from pyharness.protocol.agent import op_place
from pyharness.protocol.channel import Ended
from pyharness.protocol.mi import Break, FindFunction

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyharness.dapwire.message import Message
    from pyharness.debugger.breakpoint import Breakpoint
    from pyharness.debugger.listener import Listener
    from pyharness.debugger.native.side import NativeSide
    from pyharness.debugger.python.side import PythonSide
    from pyharness.model.source_map import SourceMap
    from pyharness.model.where import Where
    from pyharness.protocol.agent import OpPlace

_UNSEEN = "That line or function was not seen to run"
_ELSEWHERE = (
    " in the program's own process. It started others, in which nothing stops from here:"
    ' in an editor `"subProcess": "debug"` debugs them too.'
)
_LEFT = (
    "The program left the debugger before its end, as by os._exit, by becoming another program (os.exec),"
    " or by closing the debugger's connection (os.closerange). What ran after that, or in a child of it, was not seen."
)
_COMPILED = (
    "The program uses torch.compile, which replaces the lines of the functions that it compiles: nothing stops there."
    " Name a node of the graph instead, as fx:relu, or run with TORCH_COMPILE_DISABLE=1."
)
_TRACED = (
    "The program has called sys.settrace, or that of threading, which takes the debugger's trace function away:"
    " no line of Python stops in a thread that did so, or that began after it."
)
_AT_EXIT = (
    "After its last line Python called code of yours, such as a function of atexit: no line of Python stops there."
)
_OTHERS = "{0} has it, and counts as a library of others: --include '*/{0}' (`include` elsewhere) takes it for yours."
_MOST_OF_A_KIND = 64
_FOLDER = "Set PYHARNESS_HOME to a folder that you can write."
_AHEAD_OF_TIME = "`pyharness fx compiled SCRIPT` makes it, with the script that has AOTInductor compile the model."
_NO_LINES = (
    "torch up to 2.12 builds generated C++ without -g: begin with --debug-kernels (debug_kernels, debugKernels), which "
    "builds it anew."
)
_TRACE = "torch.fx.symbolic_trace, and torch.compile, make GraphModules."

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
        self.root = ""
        """What comes before the program's paths to make them ours; not empty for one in a container."""
        self.rank: int | None = None
        """The rank of a job that the program is, where it says so when it begins."""
        self.of_number: dict[int, Breakpoint] = {}
        """gdb's number → the breakpoint, also one that is removed."""
        self.tell_ops: Callable[[tuple[OpPlace, ...]], None] = lambda _places: None
        """Makes known to the program which ops and autograd nodes to stop at, all of them each time."""
        self._ops: tuple[OpPlace, ...] = ()
        self.ended = Ended({}, children=False, at_exit=(), traced=False, compiled=False)
        """What the program said as it ended."""
        self.has_stopped = False
        """Whether the program has stopped anywhere."""
        self.left_unseen = False
        """Whether the program exited and had not said before that it would end."""
        self.unfiled = ""
        """Why generated code of the program has no file: nothing can stop in it."""
        self._unmapped = ""
        """The C++ of a model that was compiled ahead of time, and not under pyharness."""

    @property
    def wants_native(self) -> bool:
        """Whether a native place waits for its library."""
        return bool(self._waiting_native())

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

    def generated(self, file: str) -> None:
        """torch.fx or inductor made code: bind what waits for a node of it; in C++, when its library is loaded."""
        source_map = map_of_generated(file)
        if source_map is None:
            self._unmapped = file if is_cxx(file) and Path(file).is_file() else self._unmapped
            return
        self._maps[file] = source_map
        for each in self._set:
            self._bind_map(each, source_map)

    def _bind_map(self, each: Breakpoint, source_map: SourceMap) -> None:
        where, file = each.where, source_map.file
        if each.is_at_generated_lines:
            lines = {entry.line for entry in statements(source_map, where.kind, where.name)}
            new = sorted(line for line in lines if (file, line) not in (*each.lines, *each.in_cxx))
            if is_cxx(file):
                each.in_cxx += [(file, line) for line in new]
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
        for file, line in tuple(each.in_cxx):
            asked = replace(_native(each, self.rank), function="", file=PurePath(file).name, line=line, address=0)
            if self._bind(each, asked, native) and (file, line) in each.in_cxx:
                each.in_cxx.remove((file, line))

    def _bind(self, each: Breakpoint, asked: Break, native: NativeSide) -> bool:
        """Whether gdb has found a place."""
        try:
            answer = native.ask(asked)
        except GdbError as error:
            if each.pending:
                self._forget(each)
                message, _, remedy = error.message.partition("\n")
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
                    each.hint = f"{each.hint} {_OTHERS.format(PurePath(found[0]).name)}".lstrip()

    def names(self, kind: str) -> list[str]:
        """What places of a kind, ``fx`` or ``op``, could name in the graphs that the program has made so far."""
        return list(dict.fromkeys(name for source_map in self._maps.values() for name in names(source_map, kind)))

    @property
    def generated_files(self) -> list[str]:
        """The files of generated code, in the order in which the program made them."""
        return list(self._maps)

    def not_reached(self, each: Breakpoint) -> HarnessError:
        """The program ended and never came there: say why, with the nearest names."""
        if each.where.is_native_op:
            return self._op_not_reached(each)
        if each.in_cxx:
            file = PurePath(each.in_cxx[0][0]).name
            problem = f"{file}, where it is, has no line tables in any library that was loaded"
            return HarnessError(f"The program ended without reaching {each}: {problem}.", _NO_LINES)
        return self.missing(each) or HarnessError(f"The program ended without reaching {each}.", self._why(each))

    def _why(self, each: Breakpoint) -> str:
        """What is known of a place that was there and not reached."""
        if unseen := self.unseen:
            return f"{_UNSEEN}. {unseen}"
        causes = (
            (_COMPILED, self.ended.compiled and each.where.kind == "py"),
            (_TRACED, self.ended.traced),
            (_AT_EXIT, each.where.file in self.ended.at_exit),
        )
        more = [why for why, holds in causes if holds]
        elsewhere = f"{_UNSEEN}{_when(each)}{_ELSEWHERE}"
        return " ".join([elsewhere if self.ended.children else self._unseen(each), *more])

    @property
    def unseen(self) -> str:
        """How an ended program left the debugger before its end; empty where it did not."""
        return _LEFT if self.left_unseen else ""

    def _unseen(self, each: Breakpoint) -> str:
        when = _when(each)
        if each.where.hits:
            return f"{_UNSEEN}{when}, or not as often as its hit condition asks for."
        return f"{_UNSEEN}{when} with that condition true." if each.where.condition else f"{_UNSEEN}{when}."

    def missing(self, each: Breakpoint) -> HarnessError | None:
        """The error that nothing which is loaded or was made so far has the place, with the nearest names."""
        where = each.where
        if each.is_bound:
            return None
        if where.kind == "native":
            remedy = each.hint or "Is it in a library with debug information (-g) that the program loads?"
            return UsageError(f"No loaded native code has {where}.", remedy)
        if self.unfiled and not self._maps:
            return HarnessError(f"Nothing can stop at {where}: {self.unfiled.partition('. ')[0]}.", _FOLDER)
        if not self._maps and self._unmapped:
            return UsageError(f"There is no {where}: {PurePath(self._unmapped).name} has no map.", _AHEAD_OF_TIME)
        if not self._maps:
            return UsageError(f"There is no {where}: the program made no torch.fx GraphModule.", _elsewhere(where))
        known = [name for source_map in self._maps.values() for name in names(source_map, where.kind)]
        remedy = (
            nearest(where.name, known) or f"Its graphs have, for example: {', '.join(list(dict.fromkeys(known))[:6])}"
        )
        return UsageError(f"No graph of the program has {where}.", remedy)

    def so_far(self, each: Breakpoint) -> str:
        """What lacks a place that is waited for while the program runs on; empty where nothing does."""
        problem = self.missing(each)
        if problem is None:
            return ""
        if each.where.is_generated and not self._maps and not self.unfiled:
            return "So far the program made no graph: it may still import torch, trace or compile."
        return f"So far: {problem.message} {problem.remedy}"

    def _op_not_reached(self, each: Breakpoint) -> HarnessError:
        hint = self.ended.op_hints.get(str(each.number))
        if hint and not (each.where.kind == "node" and each.where.hits):  # it may have run, and not that often
            message, _, remedy = hint.partition("\n")
            return UsageError(message, remedy)
        if self.ended.unwatched:
            message, _, remedy = self.ended.unwatched.partition("\n")
            return HarnessError(f"Nothing could stop at {each}: {message}", remedy)
        where = each.where
        what = "Its condition never held" if where.when else f"No such {'op' if where.kind == 'op' else 'node'} ran"
        what = f"{what}, or not that often" if where.hits else what
        remedy = f"{what}. Nodes are named as torch does: MulBackward0." if where.kind == "node" else f"{what}."
        if where.names_rank and self.rank is None:
            remedy = f"{remedy} It names rank, and nothing told the program one when it began."
        return HarnessError(f"The program ended without reaching {each}.", remedy)


def _native(each: Breakpoint, rank: int | None) -> Break:
    where = each.where
    address = int(where.name[1:], 16) if where.name.startswith("*") else 0
    asked = Break(where.name, where.file, where.line, address, where.condition, hits=where.hits, log=each.log)
    if within := each.within:
        asked = replace(asked, thread=within.thread, level=within.level)
    return replace(asked, number=each.number, rank=rank)


def _elsewhere(where: Where) -> str:
    """What else may be meant by a place in a graph, where there is none."""
    function = where.name.rpartition(".")[2]
    in_python = f", and py:FILE:{function} in Python" if "::" not in function else ""
    return f"{_TRACE} A function is native:{function} in C++{in_python}."


def _when(each: Breakpoint) -> str:
    """Since when a place was looked for, where that was not from the start."""
    return " after the last stop" if each.is_later else ""

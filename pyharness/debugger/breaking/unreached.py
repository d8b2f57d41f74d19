"""Why a program ended, or runs on, without reaching a place: as far as it is known, with what helps."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from pyharness.model.errors import HarnessError, UsageError, nearest
from pyharness.model.places import names, statements
from pyharness.model.text.op_name import op_name
from pyharness.protocol.channel import Ended

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyharness.debugger.breaking.breakpoint import Breakpoint
    from pyharness.model.source_map import SourceMap
    from pyharness.model.where import Where

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
_FOLDER = "Set PYHARNESS_HOME to a folder that you can write."
_AHEAD_OF_TIME = "`pyharness fx compiled SCRIPT` makes it, with the script that has AOTInductor compile the model."
_NO_LINES = (
    "torch up to 2.12 builds generated C++ without -g: begin with --debug-kernels (debug_kernels, debugKernels), which "
    "builds it anew."
)
_WHOLE = (
    "No kernel of torch.compile's has a variable for it: a function of torch's, or another backend, computes it whole."
    "\nLeave the index out."
)
_TRACE = "torch.fx.symbolic_trace, and torch.compile, make GraphModules."


class Unreached:
    """What is known of the program that bears on places which were not reached."""

    def __init__(self, maps: Mapping[str, SourceMap]) -> None:
        self._maps = maps
        """The map of each file of generated code that the program has made, by the path."""
        self.ended = Ended({}, children=False, at_exit=(), traced=False, compiled=False)
        """What the program said as it ended."""
        self.left_unseen = False
        """Whether the program exited and had not said before that it would end."""
        self.unfiled = ""
        """Why generated code of the program has no file: nothing can stop in it."""
        self.unmapped = ""
        """The C++ of a model that was compiled ahead of time, and not under pyharness."""

    def not_reached(self, each: Breakpoint, rank: int | None) -> HarnessError:
        """The program, of this rank of a job, ended and never came there: say why, with the nearest names."""
        if each.where.is_native_op:
            return self._op_not_reached(each, rank)
        if each.in_cxx:
            file = PurePath(each.in_cxx[0].file).name
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
        if not self._maps:
            return self._no_graph(where)
        if where.element is not None and (each.hint or self._has(where.name)):
            message, _, remedy = (each.hint or _WHOLE).partition("\n")
            return UsageError(f"Nothing can stop at {where}. {message}", remedy)
        known = [name for source_map in self._maps.values() for name in names(source_map, where.kind)]
        remedy = (
            nearest(where.name, known) or f"Its graphs have, for example: {', '.join(list(dict.fromkeys(known))[:6])}"
        )
        return UsageError(f"No graph of the program has {where}.", f"{remedy}{_op_itself(where)}")

    def _has(self, name: str) -> bool:
        return any(statements(source_map, "fx", name) for source_map in self._maps.values())

    def _no_graph(self, where: Where) -> HarnessError:
        if self.unfiled:
            return HarnessError(f"Nothing can stop at {where}: {self.unfiled.partition('. ')[0]}.", _FOLDER)
        if self.unmapped:
            return UsageError(f"There is no {where}: {PurePath(self.unmapped).name} has no map.", _AHEAD_OF_TIME)
        return UsageError(f"There is no {where}: the program made no torch.fx GraphModule.", _elsewhere(where))

    def so_far(self, each: Breakpoint) -> str:
        """What lacks a place that is waited for while the program runs on; empty where nothing does."""
        problem = self.missing(each)
        if problem is None:
            return ""
        if each.where.is_generated and not self._maps and not self.unfiled:
            return "So far the program made no graph: it may still import torch, trace or compile."
        return f"So far: {problem.message} {problem.remedy}"

    def _op_not_reached(self, each: Breakpoint, rank: int | None) -> HarnessError:
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
        if where.names_rank and rank is None:
            remedy = f"{remedy} It names rank, and nothing told the program one when it began."
        return HarnessError(f"The program ended without reaching {each}.", remedy)


def _op_itself(where: Where) -> str:
    """The place that may be meant by the name of an op as Python spells it."""
    named = where.kind == "op" and not where.condition and "::" not in where.name
    return f" The op itself, whoever calls it, is op:{op_name(where.name)}." if named else ""


def _elsewhere(where: Where) -> str:
    """What else may be meant by a place in a graph, where there is none."""
    if op := _op_itself(where):
        return f"{_TRACE}{op}"
    function = where.name.rpartition(".")[2]
    in_python = f", and py:FILE:{function} in Python" if "::" not in function else ""
    return f"{_TRACE} A function is native:{function} in C++{in_python}."


def _when(each: Breakpoint) -> str:
    """Since when a place was looked for, where that was not from the start."""
    return " after the last stop" if each.is_later else ""

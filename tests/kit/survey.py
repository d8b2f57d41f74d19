"""Looks at every variable of every native frame where a program stands, and at what they expand into."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pyharness.debugger.api.program import Program
from pyharness.debugger.merged_stack import merged_stack
from pyharness.debugger.native.variables import NativeVariables, NoValueError
from pyharness.model.variable import Variable

_OF_OURS = re.compile(
    r"recursion|NoneType|has no attribute|There is no member|out of range|unsupported operand|not subscriptable"
)
"""What no value and no note says, whatever lies in memory: it is told of a fault in a printer."""
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*("|$)')
"""A text of the program, in which anything may stand."""
_CHILDREN = 40


@dataclass
class Survey:
    """What was seen at the stops that ``look`` was called at."""

    program: Program
    depth: int = 2
    seen: int = 0
    computed: int = 0
    faults: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """Expressions by which variables are to be had again, and why they are not."""
    _known: NativeVariables = field(init=False)
    _thread: int = 0
    _level: int = 0

    def look(self) -> None:
        """Look at all that has a name where the program stands."""
        stop, shell = self.program.stop, self.program._shell
        assert stop is not None
        self._known = NativeVariables(shell.attach())
        for shown in merged_stack(shell, stop.thread):
            if shown.frame.language == "python" or shown.level < 0:
                continue
            self._thread, self._level = shown.thread, shown.level
            for scope in self._known.scopes(shown.thread, shown.level):
                if scope.name != "Registers":
                    self._children(scope.handle, f"{shown.frame.line}: {shown.frame.function}", self.depth)

    def _children(self, handle: int, path: str, depth: int) -> None:
        for child in self._known.children(self._thread, handle, 0, _CHILDREN):
            self._one(child, f"{path}.{child.name}")
            if child.handle and depth:
                self._children(child.handle, f"{path}.{child.name}", depth - 1)

    def _one(self, variable: Variable, path: str) -> None:
        self.seen += 1
        self._check(f"{variable.value} {variable.note or ''}", path)
        if variable.evaluate:
            try:
                again = self._known.evaluate(self._thread, self._level, variable.evaluate)
            except NoValueError as error:
                self.refused.append(f"{path} as {variable.evaluate}: {error}")
            else:
                self.computed += 1
                self._check(again.value, f"{path} as {variable.evaluate}")

    def _check(self, text: str, path: str) -> None:
        if _OF_OURS.search(_TEXT.sub("", text)):
            self.faults.append(f"{path} = {text}")

"""What a client will look at next, asked of gdb while the client still draws what it has."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from pyharness.debugger.native.link import line_of
from pyharness.gdbmi.client import GdbError
from pyharness.protocol import mi

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.debugger.native.link import GdbLink
    from pyharness.gdbmi.records import Value
    from pyharness.model.variable import Scope, Variable

_LOOKS = (mi.Stack, mi.Scopes, mi.Children)


class LookAhead:
    """Answers that gdb gives before anybody asks; each is given once: who asks again may know of a change."""

    def __init__(self, link: GdbLink) -> None:
        self._link = link
        self._asked: dict[mi.Command[Any], Callable[[], dict[str, Value]]] = {}
        self._opened: dict[int, tuple[Variable, ...]] = {}

    def begin(self, command: mi.Stack | mi.Scopes) -> None:
        """Have gdb read that of a thread that stands in native code, and wait for nothing."""
        with contextlib.suppress(GdbError):  # who then asks for it is told
            self._asked[command] = self._link.begin(line_of(command))

    def said(self, command: mi.Command[Any]) -> dict[str, Value] | None:
        """What gdb says to a command that it was asked ahead; ``None`` for any other."""
        if not isinstance(command, _LOOKS):
            self.forget()  # it may change what is there
        answer = self._asked.pop(command, None) if self._asked else None
        return answer() if answer else None

    def opened(self, scopes: tuple[Scope, ...]) -> tuple[Scope, ...]:
        """Keep the variables that came with scopes."""
        self._opened = {scope.handle: scope.variables for scope in scopes if scope.variables is not None}
        return scopes

    def variables(self, handle: int, start: int, count: int) -> tuple[Variable, ...] | None:
        """The variables of a scope that came with it; ``count``: 0 for as many as one answer may have."""
        found = None if start else self._opened.pop(handle, None)
        return found if found is None or not count else found[:count]

    def forget(self) -> None:
        """The program goes on, or something of it may change."""
        self._asked.clear()
        self._opened.clear()

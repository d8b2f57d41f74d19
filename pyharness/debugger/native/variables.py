"""Variables of native and Python frames, as gdb reads them from memory; see ``ingdb.mi.variables``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pyharness.gdbmi.client import GdbBusyError, GdbError, GdbLostError
from pyharness.model.errors import HarnessError
from pyharness.protocol import mi

if TYPE_CHECKING:
    from pyharness.debugger.native.side import NativeSide
    from pyharness.model.variable import Scope, Variable


class NoValueError(HarnessError):
    """gdb has no value for an expression: it may be one of Python's."""


class NativeVariables:
    """Variables of stopped threads; levels count frames of the merged stack. Handles hold until the program goes on."""

    def __init__(self, native: NativeSide) -> None:
        self._native = native

    def scopes(self, thread: int, level: int) -> tuple[Scope, ...]:
        """The scopes of a frame."""
        return self._native.asking.ahead.opened(self._native.ask_about(thread, mi.Scopes(thread, level)))

    def children(
        self, thread: int, handle: int, start: int, count: int, kind: Literal["named", "indexed"] | None = None
    ) -> tuple[Variable, ...]:
        """Some of the variables behind a handle; ``kind``: only those that are ``named``, or ``indexed``."""
        known = None if kind else self._native.asking.ahead.variables(handle, start, count)
        return self._native.ask_about(thread, mi.Children(handle, start, count, kind)) if known is None else known

    def evaluate(self, thread: int, level: int, expression: str, *, whole: bool = False) -> Variable:
        """One variable, in the language of its frame; ``whole``: with more than a line of its value.

        Raises ``NoValueError`` where there is none.
        """
        try:
            return self._native.ask_about(thread, mi.EvaluateVariable(thread, level, expression, whole))
        except (GdbBusyError, GdbLostError):
            raise
        except GdbError as error:
            message, _, remedy = error.message.partition("\n")
            raise NoValueError(message, remedy) from error

    def find_element(self, thread: int, level: int, node: str, element: tuple[int, ...]) -> mi.KernelLines:
        """Where the kernel that a frame is in computes an element of a node; with no name, of the node of the line."""
        return self._native.ask_about(thread, mi.FindElement(thread, level, node, element))

    def assign(self, thread: int, handle: int, name: str, value: str) -> Variable:
        """Set one of the variables behind a handle; the variable as it is then."""
        return self._native.ask_about(thread, mi.SetVariable(thread, handle, name, value))

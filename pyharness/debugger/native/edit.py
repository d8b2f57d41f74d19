"""Changes what a stopped native thread has and where it goes on, and completes what a person types about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.protocol import mi

if TYPE_CHECKING:
    from pyharness.debugger.native.side import NativeSide


class NativeEdit:
    """Changes to threads that gdb has stopped; levels count frames of the merged stack."""

    def __init__(self, native: NativeSide) -> None:
        self._native = native

    def jump(self, thread: int, file: str, line: int, *, check: bool = False) -> int:
        """Go on at a line of the newest frame's function when the thread is resumed; its address.

        ``GdbError`` says why that would not leave the stack's objects intact. ``check`` changes nothing.
        """
        return self._native.ask(mi.Jump(thread, file, line, check))

    def set(self, thread: int, expression: str, value: str, level: int = 0) -> str:
        """Set a variable, a member, a register (``$rax``) or an element of a tensor; the value as it is then."""
        return self._native.ask_about(thread, mi.Set(thread, expression, value, level))

    def complete(self, thread: int, text: str, level: int = 0) -> tuple[mi.Completion, ...]:
        """Names for the end of ``text`` in the language of the frame, variables first; at most a hundred."""
        return self._native.ask_about(thread, mi.Complete(thread, text, level))

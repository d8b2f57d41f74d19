"""Changes what a stopped native thread has and where it goes on, and completes what a person types about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyharness.debugger.native_side import NativeSide


@dataclass(frozen=True)
class Completion:
    """A name that could stand at the end of the text."""

    label: str
    kind: str
    """``variable``, ``field``, ``function`` or ``register``."""
    length: int
    """How many characters at the end of the text it replaces."""


class NativeEdit:
    """Of threads that gdb has stopped; levels count frames of the merged stack."""

    def __init__(self, native: NativeSide) -> None:
        self._native = native

    def jump(self, thread: int, file: str, line: int, *, check: bool = False) -> int:
        """Go on at a line of the newest frame's function when the thread is resumed; its address.

        ``GdbError`` says why that would not leave the stack's objects intact. ``check`` changes nothing.
        """
        request = {"thread": thread, "file": file, "line": line, "check": check}
        return int(self._native.ask("ph-jump", request)["address"])

    def set(self, thread: int, expression: str, value: str, level: int = 0) -> str:
        """Set a variable, a member, a register (``$rax``) or an element of a tensor; the value as it is then."""
        request = {"expression": expression, "value": value, "level": level}
        return str(self._native.ask_about(thread, "ph-set", request)["value"])

    def complete(self, thread: int, text: str, level: int = 0) -> list[Completion]:
        """Names for the end of ``text`` in the language of the frame, variables first; at most a hundred."""
        found = self._native.ask_about(thread, "ph-complete", {"text": text, "level": level})
        return [Completion(**entry) for entry in found]

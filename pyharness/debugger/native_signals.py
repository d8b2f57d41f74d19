"""Signals of the native half: which ones stop the program, and what one that did means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyharness.debugger.native_side import NativeSide


@dataclass(frozen=True)
class Signal:
    """One that exists."""

    name: str
    stop: bool
    """Whether the program stops at it."""
    meaning: str


@dataclass(frozen=True)
class SignalStop:
    """One that a thread stopped for."""

    name: str
    meaning: str
    reason: str
    """What the kernel says of it, empty for nothing."""
    sender: int
    """Process that sent it, 0 where it is the program's own fault."""
    address: int | None
    """That could not be accessed."""
    what: str
    """What lies there, for a person."""

    @property
    def text(self) -> str:
        """One line for a person."""
        where = f" at {self.address:#x}" if self.address is not None else ""
        told = "; ".join(filter(None, (self.what, self.reason if not self.what else "")))
        by = f", sent by process {self.sender}" if self.sender else ""
        return f"{self.name} ({self.meaning}){where}{by}{f': {told}' if told else ''}"


class NativeSignals:
    """Decides at which signals the program stops."""

    def __init__(self, native: NativeSide) -> None:
        self._native = native

    def known(self) -> list[Signal]:
        """All signals but those that the debugger needs."""
        return [Signal(**entry) for entry in self._native.ask("ph-signals", {})]

    def stop_at(self, names: Sequence[str]) -> None:
        """Stop at these and at no others; the program gets every signal in any case."""
        self._native.ask("ph-signals", {"stop": list(names)})

    def info(self, thread: int) -> SignalStop:
        """What a stop with the reason ``signal`` is about."""
        return SignalStop(**self._native.ask("ph-signal-info", {"thread": thread}))

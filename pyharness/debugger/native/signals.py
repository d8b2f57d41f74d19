"""Signals of the native half: which ones stop the program, and what one that did means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.protocol import mi

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyharness.debugger.native.side import NativeSide


class NativeSignals:
    """Decides at which signals the program stops."""

    def __init__(self, native: NativeSide) -> None:
        self._native = native

    def known(self) -> tuple[mi.Signal, ...]:
        """All signals but those that the debugger needs."""
        return self._native.ask(mi.Signals())

    def stop_at(self, names: Sequence[str]) -> None:
        """Stop at these and at no others; the program gets every signal in any case."""
        self._native.ask(mi.Signals(tuple(names)))

    def info(self, thread: int) -> mi.SignalStop:
        """What a stop with the reason ``signal`` is about."""
        return self._native.ask(mi.SignalInfo(thread))

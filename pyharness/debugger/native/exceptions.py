"""C++ exceptions of the native half: stops where they are thrown or caught, and what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.protocol import mi

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyharness.debugger.native.side import NativeSide


class NativeExceptions:
    """Decides at which C++ exceptions the program stops."""

    def __init__(self, native: NativeSide) -> None:
        self._native = native
        self._command: mi.Catch | None = None

    def stop_at(
        self,
        *,
        throw: Sequence[str] | None = None,
        catch: Sequence[str] | None = None,
        origin: mi.ExceptionOrigin = "own",
    ) -> None:
        """Stop there from now on; it replaces what was said before.

        ``throw`` and ``catch`` are patterns of type names, of the exception or of a base of it: empty for all,
        ``None`` for no stop. ``origin`` is ``own`` (the user's code throws, or catches), ``through`` (it passes through
        their code on its way), or ``all``.
        """
        throw, catch = (None if types is None else tuple(types) for types in (throw, catch))
        self._command = mi.Catch(throw, catch, origin)
        self.refresh()

    def refresh(self) -> None:
        """Look again after libraries were loaded: one may bring a C++ runtime of its own."""
        if self._command:
            numbers = self._native.ask(self._command)
            self._native.stops.of_number.update(dict.fromkeys(numbers, "exception"))

    def info(self, thread: int) -> mi.CxxException:
        """What a stop with the reason ``exception`` is about."""
        return self._native.ask(mi.ExceptionInfo(thread))

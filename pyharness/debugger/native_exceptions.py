"""C++ exceptions of the native half: stops where they are thrown or caught, and what they say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pyharness.model.frames import Frame, from_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyharness.debugger.native_side import NativeSide

Origin = Literal["own", "through", "all"]


@dataclass(frozen=True)
class CxxException:
    """The exception that a thread stopped for."""

    kind: Literal["throw", "catch"]
    type: str
    """Demangled."""
    bases: tuple[str, ...]
    what: str
    """Empty where the message is not in memory."""
    level: int
    """Of ``frame`` in the merged stack, -1 for none."""
    frame: Frame | None
    """The innermost native frame of the user's."""


class NativeExceptions:
    """Decides at which C++ exceptions the program stops."""

    def __init__(self, native: NativeSide) -> None:
        self._native = native
        self._request: dict[str, object] = {}

    def stop_at(
        self, *, throw: Sequence[str] | None = None, catch: Sequence[str] | None = None, origin: Origin = "own"
    ) -> None:
        """Stop there from now on; it replaces what was said before.

        ``throw`` and ``catch`` are patterns of type names, of the exception or of a base of it: empty for all,
        ``None`` for no stop. ``origin`` is ``own`` (the user's code throws, or catches), ``through`` (it passes through
        their code on its way), or ``all``.
        """
        self._request = {"throw": throw, "catch": catch, "from": origin}
        self.refresh()

    def refresh(self) -> None:
        """Look again after libraries were loaded: one may bring a C++ runtime of its own."""
        if self._request:
            numbers = self._native.ask("ph-catch", self._request)["numbers"]
            self._native.reason_of_number.update(dict.fromkeys(numbers, "exception"))

    def info(self, thread: int) -> CxxException:
        """What a stop with the reason ``exception`` is about."""
        found = self._native.ask("ph-exception-info", {"thread": thread})
        frame = from_json(found["frame"]) if found["frame"] else None
        return CxxException(**{**found, "bases": tuple(found["bases"]), "frame": frame})

"""Collects what the program's own ``with pyharness.record()`` blocks recorded, for who traces it from outside."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from pyharness.model.errors import HarnessError
from pyharness.model.results.trace_joined import Part, joined
from pyharness.native.recording import Recording

if TYPE_CHECKING:
    from pyharness.model.results.trace import Trace

_REMEDY = "Put `with pyharness.record():` around what is to be seen, or leave --regions away to see the whole program."


class Regions:
    """From ``begin`` on, every recording of this process that has ended."""

    def __init__(self) -> None:
        self._parts: list[tuple[int, int, Recording]] = []
        self._begun: dict[int, int] = {}
        self._events = 0

    def begin(self) -> None:
        """Be told of each recording that begins and ends, whoever makes it."""
        enter, leave = Recording.__enter__, Recording.__exit__

        def entered(recording: Recording) -> Any:
            self._begun[id(recording)] = time.monotonic_ns()
            return enter(recording)

        def left(recording: Recording, *error: Any) -> None:
            leave(recording, *error)
            begun = self._begun.pop(id(recording), None)
            if begun is not None:
                self._parts.append((begun, time.monotonic_ns(), recording))
                self._events += recording.count

        Recording.__enter__ = entered  # type: ignore[method-assign]
        Recording.__exit__ = left  # type: ignore[method-assign]

    @property
    def count(self) -> int:
        """Events of the regions that have ended."""
        return self._events

    def end(self) -> Trace:
        """All of them, one after the other."""
        if not self._parts:
            raise HarnessError("The program made no recording of its own.", _REMEDY)
        return joined(Part(begin, end, recording.trace) for begin, end, recording in self._parts)

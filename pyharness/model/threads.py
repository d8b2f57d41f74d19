"""One thread of a stopped process or core, with its merged stack."""

from __future__ import annotations

from typing import Any

from pyharness.model.frames import Frame, from_json
from pyharness.model.frozen import frozen


@frozen
class ThreadStack:
    """``frames`` are innermost first."""

    lwp: int
    """Kernel thread id, as the debugger sees it."""
    name: str
    """The kernel's name of the thread, empty where none is known (core files)."""
    frames: tuple[Frame, ...]
    holds_gil: bool = False
    signal: str = ""
    """The signal that ends the program in this thread, with its address; empty otherwise."""
    note: str = ""
    """Why a half of the stack is missing, empty where it is whole."""
    works_for: int = 0
    """The thread whose Python code has called what this one runs, as a thread of OpenMP's; 0 for none."""

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        return {
            "thread": self.lwp,
            "name": self.name,
            "holds_gil": self.holds_gil,
            "signal": self.signal,
            "note": self.note,
            "works_for": self.works_for,
            "stack": [frame.to_json() for frame in self.frames],
        }


def thread_from_json(data: dict[str, Any]) -> ThreadStack:
    """The thread that ``ThreadStack.to_json`` wrote."""
    frames = tuple(from_json(frame) for frame in data["stack"])
    known = data["thread"], data["name"], frames, data["holds_gil"], data["signal"], data["note"]
    return ThreadStack(*known, data.get("works_for", 0))

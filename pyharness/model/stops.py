"""A stop of the program: where, why, and what was asked there."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal

from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from pyharness.model.frames import Frame

Reason = Literal["breakpoint", "step", "signal", "exception", "entry", "pause", "data breakpoint", "goto"]


@frozen
class Stop:
    """One stop; ``frame`` is the innermost frame that a user would call "where it stopped"."""

    reason: Reason
    frame: Frame
    thread: int
    """Id of the kernel thread (LWP)."""
    note: str = ""
    """Why a step ended where it did, when it did not end where it was sent."""
    printed: dict[str, str] = field(default_factory=dict)
    stack: tuple[Frame, ...] = ()
    condition_failed: bool = False
    """Whether it stands here because the condition of the place raised; ``note`` says what."""

    def to_json(self) -> dict[str, Any]:
        """The object that ``--json`` prints; the keys but ``note`` and ``thread`` are a contract."""
        frame = self.frame.to_json()
        return {
            "reason": self.reason,
            **{key: frame[key] for key in ("language", "file", "line", "function", "fx")},
            "note": self.note,
            "thread": self.thread,
            "printed": dict(self.printed),
            "stack": [entry.to_json() for entry in self.stack],
        }

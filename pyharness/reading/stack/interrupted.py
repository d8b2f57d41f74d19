"""Which frames of a stack a signal handler has put there: what it interrupted lies below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.model.plumbing import SIGNAL_HANDLER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyharness.model.frames import Frame


def of_handlers(frames: Sequence[Frame]) -> int:
    """How many of the innermost frames are a handler's, and those of another that handed the signal on by raising it.

    0 where no handler runs.
    """
    count = 0
    while (length := _length(frames[count:])) and (not count or _is_machinery(frames[count : count + length])):
        count += length
    return count


def _length(frames: Sequence[Frame]) -> int:
    """Frames up to that of a signal; 0 for none."""
    return next((index for index, frame in enumerate(frames, 1) if frame.function == SIGNAL_HANDLER), 0)


def _is_machinery(frames: Sequence[Frame]) -> bool:
    return all(frame.language == "native" and frame.plumbing for frame in frames)

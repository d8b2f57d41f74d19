"""The frames of Python that run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


def running_frames() -> Iterator[FrameType]:
    """Frames of every thread, ours among them, each thread's from the innermost outwards."""
    for innermost in sys._current_frames().values():
        frame: FrameType | None = innermost
        while frame is not None:
            yield frame
            frame = frame.f_back

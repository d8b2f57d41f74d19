"""Names for gdb's own ``bt``: frames in libraries that gdb has not read would all be ``??``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gdb
from gdb.FrameDecorator import FrameDecorator

from pyharness.ingdb.functions import native_names
from pyharness.reading.functions.function_name import bare_name

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Named(FrameDecorator):
    """A frame with the name that its library's own symbol table gives it."""

    def function(self) -> Any:
        """A name as gdb's plain ``bt`` writes it, without parameters."""
        frame = self.inferior_frame()
        if frame.type() == gdb.NORMAL_FRAME and frame.name() is None:
            return native_names.name_of(frame)[0]
        name = super().function()
        return bare_name(name) if isinstance(name, str) else name


class FrameNames:
    """The frame filter; ``disable frame-filter global pyharness-names`` takes it away."""

    def __init__(self) -> None:
        self.name = "pyharness-names"
        self.priority = 50
        self.enabled = True

    def filter(self, iterator: Iterator[Any]) -> Iterator[Any]:
        """Gdb's frames, each with a name."""
        return map(_Named, iterator)


def register() -> None:
    """Add the filter to gdb's; a second call changes nothing."""
    gdb.frame_filters.setdefault("pyharness-names", FrameNames())

"""Code without a file (``<string>``, ``<stdin>``) in which somebody has asked to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType


class AskedFiles:
    """Names that pass for files of the user's from then on: others like them are what libraries generate."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def add(self, frame: FrameType | None) -> None:
        """Stop in what ``frame`` and its callers run."""
        while frame is not None:
            name = frame.f_code.co_filename
            if name.startswith("<") and not name.startswith("<frozen "):
                self.names.add(name)
            frame = frame.f_back


ASKED_FILES = AskedFiles()

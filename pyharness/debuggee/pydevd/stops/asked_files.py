"""Code without a file (``<string>``, ``<stdin>``) in which somebody has asked to stop."""

from __future__ import annotations

import sys
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
                _take_for_users(frame)
            frame = frame.f_back


def _take_for_users(frame: FrameType) -> None:
    """pydevd takes a ``<string>`` that another file runs for a library, where nothing stops."""
    if "pydevd" in sys.modules:
        import pydevd
        from pydevd_file_utils import get_abs_path_real_path_and_base_from_frame

        path = get_abs_path_real_path_and_base_from_frame(frame)[0]
        pydevd._CACHE_FILE_TYPE[frame.f_code.co_firstlineno, path, frame.f_code] = None
        if debugger := pydevd.get_global_debugger():
            # It keeps what it found as the code began to run, by this number (from Python 3.12 on) and in these.
            debugger.mtime += 1
            pydevd.global_cache_skips.clear()
            pydevd.global_cache_frame_skips.clear()


ASKED_FILES = AskedFiles()

"""Whether a source that is shown is still that of what runs: told by the times of files, as gdb and make tell it.

- Python: the file was written after the program had started, and no compiled file (``__pycache__``) is of it as it is
  now, as Python leaves one of a module that the program itself wrote and imported.
- C and C++: the source is newer than the library that was built from it.

Generated code is left out: its files are written while the program runs.
"""

from __future__ import annotations

import os
import struct
import time
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.model.source_map import is_generated
from pyharness.model.text.source_line import short_path

if TYPE_CHECKING:
    from pyharness.model.frames import Frame

_MARGIN = 0.05
"""Seconds: a process's start is known to a hundredth, a file's time to a tick of the kernel's."""
_COMPILED = struct.Struct("<4xIII")
"""The header of a ``.pyc`` behind its magic number: flags, the source's time and its size (PEP 552)."""
_DOUBT = "the lines shown may not be those that run"


def changed(frame: Frame, since: float, event: str, root: str = "") -> str:
    """A sentence about the frame's source where it is not that of what runs, else nothing.

    ``since`` is when the program's code was read, in seconds since the epoch, and ``event`` says so: "the program
    started". ``root`` is where the files of a program in a container lie here.
    """
    if not frame.file or not frame.line or not frame.file.startswith("/"):
        return ""
    source, name = _status(root + frame.file), short_path(frame.file)
    if source is None:
        return ""
    if frame.language == "native":
        library = _status(root + frame.library) if frame.library else None
        newer = library is not None and source.st_mtime_ns > library.st_mtime_ns
        return f"{name} is newer than {Path(frame.library or '').name}: {_DOUBT}. Build it anew." if newer else ""
    written = since + _MARGIN < source.st_mtime <= time.time()  # a time to come is another clock's
    if not written or is_generated(frame.file) or _is_compiled(root + frame.file, source):
        return ""
    return f"{name} has changed since {event}: {_DOUBT}."


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116  (asked for each frame)
    except (OSError, ValueError):
        return None


def _is_compiled(file: str, source: os.stat_result) -> bool:
    """Whether Python has compiled the file as it is now, for an import."""
    path = Path(file)
    wanted = 0, int(source.st_mtime) & 0xFFFFFFFF, source.st_size & 0xFFFFFFFF
    return any(_header(each) == wanted for each in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"))


def _header(path: Path) -> tuple[int, ...]:
    try:
        with path.open("rb") as stream:
            return _COMPILED.unpack(stream.read(_COMPILED.size))
    except (OSError, struct.error):
        return ()

"""Whether a path is there, as far as this user may see: what lies in a folder that may not be entered is not there.

``Path.exists`` and its kin raise ``PermissionError`` for such a path, up to Python 3.13.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def is_there(path: str | Path) -> bool:
    """Whether anything lies there."""
    try:
        os.stat(path)  # noqa: PTH116  (a Path is not needed for it)
    except (OSError, ValueError):  # a name that no file can have
        return False
    return True


def is_file(path: str | Path) -> bool:
    """Whether a regular file lies there."""
    return is_there(path) and Path(path).is_file()


def is_folder(path: str | Path) -> bool:
    """Whether a folder lies there."""
    return is_there(path) and Path(path).is_dir()


def entries(folder: str | Path) -> list[Path]:
    """What lies in a folder, by name; nothing where it cannot be listed, or is none."""
    with suppress(OSError):
        return sorted(Path(folder).iterdir())
    return []

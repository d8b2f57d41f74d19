"""What Python runs besides a file of source: a folder or a zip archive with a ``__main__`` in it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from pathlib import Path


def main_of(script: str) -> ModuleSpec | None:
    """The ``__main__`` of a folder or an archive; ``ModuleNotFoundError`` where that has none, ``None`` for a file."""
    for hook in sys.path_hooks:
        try:
            finder = hook(script)
        except ImportError:
            continue
        spec = finder.find_spec("__main__", None)
        if spec is None:
            raise ModuleNotFoundError(f"can't find '__main__' module in {script!r}")
        return spec
    return None


def is_archive(path: Path) -> bool:
    """Whether a file is a zip archive."""
    import zipfile

    try:
        return path.is_file() and zipfile.is_zipfile(path)
    except OSError:  # a name that is too long
        return False


def is_application(path: Path) -> bool:
    """Whether Python runs the ``__main__`` in ``path``."""
    try:
        return main_of(str(path)) is not None
    except ModuleNotFoundError:
        return False

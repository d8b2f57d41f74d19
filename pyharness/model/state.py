"""Where pyharness keeps its files: one private directory."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def state_dir(*parts: str) -> Path:
    """``$PYHARNESS_HOME`` or ``$XDG_CACHE_HOME/pyharness`` (``~/.cache/pyharness``), made with mode 0700.

    ``parts`` name a folder below it, made likewise.
    """
    home = os.environ.get("PYHARNESS_HOME")
    cache = os.environ.get("XDG_CACHE_HOME")
    path = Path(home) if home else (Path(cache) if cache else Path.home() / ".cache") / "pyharness"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    for part in parts:
        path /= part
        path.mkdir(mode=0o700, exist_ok=True)
    return path


def write_private(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path`` atomically, readable by the owner only."""
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # mode 0600
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise

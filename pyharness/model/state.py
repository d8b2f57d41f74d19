"""Where pyharness keeps its files: one private directory."""

from __future__ import annotations

import os
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
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
    temporary.replace(path)

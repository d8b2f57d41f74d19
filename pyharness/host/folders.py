"""The folders that a process may lack: a home, of a user without a name, and the current one, once it is removed."""

from __future__ import annotations

from pathlib import Path


def home_folder() -> Path | None:
    """``~``, where this user has one."""
    try:
        return Path.home()
    except RuntimeError:
        return None


def current_folder() -> Path | None:
    """Where this process stands, if that is still there."""
    try:
        return Path.cwd()
    except OSError:
        return None

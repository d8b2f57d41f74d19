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


def working_folder() -> str | None:
    """Where a process that this one starts is to work: here (``None``), unless somebody has removed that folder.

    No Python of gdb's would start in it.
    """
    return None if current_folder() else "/"

"""Forgets generated files that nothing has used for a month: each change of a model leaves one."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from pyharness.model.source_map import SUFFIX

if TYPE_CHECKING:
    from pathlib import Path

_DAY_SECONDS = 24 * 3600
_KEPT_SECONDS = 30 * _DAY_SECONDS
_EDITED = ".edited.py"


def forget_old(folder: Path, now: float | None = None) -> None:
    """Remove generated files of ``folder``, and their maps, that no program has run for 30 days.

    What a person edited stays. ``now`` is in seconds since the epoch.
    """
    oldest = (time.time() if now is None else now) - _KEPT_SECONDS
    for file in folder.glob("*.py"):
        with suppress(OSError):  # another program forgets it too
            if not file.name.endswith(_EDITED) and file.stat().st_mtime < oldest:
                file.unlink()
                file.with_name(file.name + SUFFIX).unlink(missing_ok=True)


def keep(file: Path) -> None:
    """Note that a program runs ``file`` again; once a day will do, since who watches a file sees it change."""
    if file.stat().st_mtime < time.time() - _DAY_SECONDS:
        os.utime(file)

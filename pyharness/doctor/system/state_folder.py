"""The private folder that pyharness keeps its files in: whose it is, who else may read it, how much room there is."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from pyharness.doctor.machine import machine_checks
from pyharness.doctor.registry import Area
from pyharness.host.state import StateError, state_dir

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyharness.doctor.machine import Machine
    from pyharness.model.results.diagnosis import Diagnosis

AREA = Area("state folder")
_LITTLE = 50 << 20
"""Bytes below which generated files and traces may not fit."""
_ELSEWHERE = "Name a folder of yours in $PYHARNESS_HOME."


@machine_checks.add(AREA, "state-folder")
def folder(_machine: Machine) -> Iterator[Diagnosis]:
    """Where it is, and what is wrong with it."""
    try:
        path = state_dir()
    except StateError as error:
        yield AREA.problem("state-folder", error.message, error.remedy)
        return
    yield _private(path)
    yield _room(path)


def _private(path: Path) -> Diagnosis:
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        seen = f"{path} is open to other users (mode {mode:04o}): it has the doors to programs that run."
        return AREA.problem("state-folder", seen, f"chmod 700 {path}")
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        return AREA.problem("state-folder", f"{path} cannot be written to.", _ELSEWHERE)
    return AREA.ok("state-folder", f"{path} is yours alone (mode {mode:04o}).")


def _room(path: Path) -> Diagnosis:
    disk = os.statvfs(path)
    free = disk.f_bavail * disk.f_frsize
    if free < _LITTLE:
        seen = f"Only {free / 1e6:,.0f} MB are free there."
        return AREA.warning("state-space", seen, f"Make room: generated files and traces go there. {_ELSEWHERE}")
    return AREA.ok("state-space", f"{free / 1e9:,.1f} GB are free there.")

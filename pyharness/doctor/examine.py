"""Runs every check, side by side, and gives what they found in their order."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from pyharness.doctor.machine import Machine, machine_checks

if TYPE_CHECKING:
    from pyharness.doctor.machine import Wanted
    from pyharness.model.results.diagnosis import Diagnosis

AREAS = (
    "gdb",
    "system.permission",
    "system.core_dumps",
    "interpreter",
    "torch",
    "binaries.extension",
    "system.state_folder",
    "system.left_behind",
    "editor",
    "environment",
)
"""The modules that register checks, in the order in which their findings are shown."""

for _name in AREAS:
    importlib.import_module(f"pyharness.doctor.{_name}")


def examine(wanted: Wanted) -> list[Diagnosis]:
    """Everything that debugging on this machine needs."""
    machine = Machine(wanted)
    with machine.pool as pool:
        machine.begin()
        looks = [pool.submit(check, machine) for check in machine_checks]
        return [finding for look in looks for finding in look.result()]

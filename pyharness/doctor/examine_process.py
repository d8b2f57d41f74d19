"""Runs every check of a process that runs; none of them stops it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from pyharness.doctor.live_process import find_process, process_checks
from pyharness.doctor.process_state import state
from pyharness.model.process_state import has_ended

if TYPE_CHECKING:
    from pyharness.model.diagnosis import Diagnosis

AREAS = ("process_state", "process_code", "process_namespaces")
"""The modules that register checks, in the order in which their findings are shown."""

for _name in AREAS:
    importlib.import_module(f"pyharness.doctor.{_name}")


def examine_process(target: str) -> list[Diagnosis]:
    """Everything that debugging this process needs; ``UsageError`` where there is none."""
    process = find_process(target)
    if has_ended(process.pid):  # nothing of it is left to look at
        return list(state(process))
    return [finding for check in process_checks for finding in check(process)]

"""Runs every check of a process that runs; none of them stops it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from pyharness.doctor.process.live_process import find_process, process_checks
from pyharness.doctor.process.state import state
from pyharness.host.process_state import has_ended, lives_on

if TYPE_CHECKING:
    from pyharness.model.results.diagnosis import Diagnosis

AREAS = ("state", "code", "namespaces")
"""The modules that register checks, in the order in which their findings are shown."""

for _name in AREAS:
    importlib.import_module(f"pyharness.doctor.process.{_name}")


def examine_process(target: str) -> list[Diagnosis]:
    """Everything that debugging this process needs; ``UsageError`` where there is none."""
    process = find_process(target)
    if has_ended(process.pid) or lives_on(process.pid):  # nothing of it can be looked at
        return list(state(process))
    return [finding for check in process_checks for finding in check(process)]

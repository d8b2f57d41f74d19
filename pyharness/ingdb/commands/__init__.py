"""The ph- commands for a plain gdb: importing this makes them known (``source .../pyharness/ingdb/load.py`` does)."""

from __future__ import annotations

from pyharness.ingdb import backtrace_command, tensor_command
from pyharness.ingdb.commands import (
    core,
    ending,
    evaluating,
    help,  # noqa: A004  (ph-help's file)
    ide,
    meeting,
    places,
    running,
    scripting,
    stepping,
    stops,
)


def register() -> None:
    """Listen to the program; ``load.py`` calls it once per gdb."""
    stops.start()
    ending.start()
    tensor_command.register()


__all__ = [
    "backtrace_command",
    "core",
    "ending",
    "evaluating",
    "help",
    "ide",
    "meeting",
    "places",
    "register",
    "running",
    "scripting",
    "stepping",
    "stops",
]

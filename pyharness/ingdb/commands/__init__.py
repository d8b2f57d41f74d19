"""The ph- commands for a plain gdb: importing this makes them known (``source .../pyharness/ingdb/load.py`` does)."""

from __future__ import annotations

from pyharness.ingdb.commands import (
    backtrace,
    core,
    ending,
    evaluating,
    help,  # noqa: A004  (ph-help's file)
    ide,
    meeting,
    running,
    scripting,
    stepping,
    tensor,
)
from pyharness.ingdb.prompt import places, stops


def register() -> None:
    """Listen to the program; ``load.py`` calls it once per gdb."""
    stops.start()
    ending.start()
    tensor.register()


__all__ = [
    "backtrace",
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
    "tensor",
]

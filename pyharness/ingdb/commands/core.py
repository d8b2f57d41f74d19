"""ph-core: a core file with its symbols read in the right order."""

from __future__ import annotations

import os
from pathlib import Path

import gdb

from pyharness.ingdb import terminal
from pyharness.ingdb.opening import core_file
from pyharness.ingdb.prompt import stops
from pyharness.ingdb.prompt.registry import command
from pyharness.model.errors import UsageError


@command("ph-core", gdb.COMMAND_FILES)
def ph_core(argument: str) -> None:
    """Open a core file: ph-core FILE; ph-bt, ph-tensor and gdb's own commands then read what the program left."""
    if not argument:
        raise UsageError("Open what?", "Write ph-core FILE.")
    path = Path(os.path.realpath(Path(argument).expanduser()))
    if not path.is_file():
        raise UsageError(
            f"There is no file {argument!r}.", f"Paths begin at {Path.cwd()}; `pyharness doctor` says where cores go."
        )
    core_file.open_core(str(path))
    for sentence in core_file.lacks():
        terminal.write(sentence)
    stops.report()

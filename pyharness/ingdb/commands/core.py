"""ph-core: a core file with its symbols read in the right order."""

from __future__ import annotations

from pathlib import Path

import gdb

from pyharness.ingdb import attach, libraries
from pyharness.ingdb.commands import stops
from pyharness.ingdb.commands.registry import command
from pyharness.model.errors import HarnessError, UsageError


@command("ph-core", gdb.COMMAND_FILES)
def ph_core(argument: str) -> None:
    """Open a core file: ph-core FILE; ph-bt, ph-tensor and gdb's own commands then read what the program left.

    gdb needs the interpreter that ran it: `gdb python`, or ph-program before.
    """
    if not argument:
        raise UsageError("Open what?", "Write ph-core FILE.")
    if not Path(argument).is_file():
        raise UsageError(f"There is no file {argument!r}.")
    attach.configure()
    try:
        gdb.execute(f"core-file {argument}", to_string=True)
    except gdb.error as error:
        raise HarnessError(f"gdb cannot read {argument}: {error}") from error
    if gdb.selected_thread() is None:
        raise HarnessError(f"{argument} is no core file of a program.")
    libraries.load_user_symbols()
    stops.report()

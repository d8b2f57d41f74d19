"""MI command that opens a core file: its threads, and what it was made for."""

from __future__ import annotations

from typing import Any

import gdb

from pyharness.ingdb import core_file
from pyharness.ingdb.mi import mi_command
from pyharness.model.errors import HarnessError

_MAKE_AGAIN = "Make the core again; `gcore PID` makes one of a program that runs."


@mi_command("ph-open-core")
def _open_core(request: dict[str, Any]) -> Any:
    """``{"path": ..., "program": ...}`` → process id, threads, the one that the core was made for, what is missing."""
    path = request["path"]
    try:
        core_file.open_core(path, request.get("program") or "")
    except (gdb.error, gdb.MemoryError) as error:
        raise HarnessError(f"{path} cannot be opened: {error}", _MAKE_AGAIN) from error
    inferior = gdb.selected_inferior()
    if not inferior.threads():
        raise HarnessError(f"{path} is damaged: no thread is in it.", _MAKE_AGAIN)
    return {
        "pid": inferior.pid,
        "threads": {str(thread.ptid[1]): thread.name or "" for thread in inferior.threads()},
        "thread": gdb.selected_thread().ptid[1],
        "lacks": core_file.lacks(),
    }

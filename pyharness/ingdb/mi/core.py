"""MI command that opens a core file: its threads, and what it was made for."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import gdb

from pyharness.ingdb import core_file
from pyharness.ingdb.mi.commands import mi_command
from pyharness.ingdb.python.thread_names import thread_names
from pyharness.ingdb.stack import backtrace
from pyharness.model.errors import HarnessError


@mi_command("ph-open-core")
def _open_core(request: dict[str, Any]) -> Any:
    """``{"path": ..., "program": ...}`` → process id, threads, the one that the core was made for, what is missing."""
    core_file.open_core(request["path"], request.get("program") or "")
    inferior = gdb.selected_inferior()
    names = _names()
    return {
        "pid": inferior.pid,
        "threads": {str(lwp): names.get(lwp, "") for _, lwp, _ in (thread.ptid for thread in inferior.threads())},
        "thread": gdb.selected_thread().ptid[1],
        "lacks": core_file.lacks(),
    }


def _names() -> dict[int, str]:
    """A core has no names of threads but Python's own."""
    with suppress(HarnessError):  # another Python than we know: its threads go without names
        python = backtrace.current_python()
        return thread_names(python) if python else {}
    return {}

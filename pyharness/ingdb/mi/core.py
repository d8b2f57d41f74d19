"""MI commands that open a core file, and tell the names of threads, its own and a live program's."""

from __future__ import annotations

from contextlib import suppress

import gdb

from pyharness.ingdb.mi.commands import handles
from pyharness.ingdb.opening import core_file
from pyharness.ingdb.stack import backtrace
from pyharness.model.errors import HarnessError
from pyharness.protocol import mi
from pyharness.reading.python.thread_names import thread_names


@handles(mi.OpenCore)
def _open_core(request: mi.OpenCore) -> mi.CoreContents:
    core_file.open_core(request.path, request.program)
    inferior = gdb.selected_inferior()
    names = _names(mi.ThreadNames())
    threads = {lwp: names.get(lwp, "") for _, lwp, _ in (thread.ptid for thread in inferior.threads())}
    return mi.CoreContents(inferior.pid, threads, gdb.selected_thread().ptid[1], tuple(core_file.lacks()))


@handles(mi.ThreadNames)
def _names(_request: mi.ThreadNames) -> dict[int, str]:
    """A core has no names of threads but these."""
    with suppress(HarnessError):  # another Python than we know: its threads go without names
        python = backtrace.current_python()
        return thread_names(python) if python else {}
    return {}

"""The merged stacks of a running process or a core file; nothing is left behind.

A running process is read without a debugger. A gdb looks, answers and goes where that is not enough: for a core file,
for local variables, and for a process that we cannot hold ourselves.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.model.errors import UsageError, nearest
from pyharness.reading.live.stacks import MAX_FRAMES, is_readable, read_stacks

if TYPE_CHECKING:
    from pyharness.model.threads import ThreadStack


def dump_stacks(
    target: int | Path,
    *,
    thread: int | None = None,
    limit: int = MAX_FRAMES,
    variables: bool = False,
) -> tuple[ThreadStack, ...]:
    """Every thread of a process (by pid) or of a core file (by path), or the one with kernel id ``thread``.

    ``variables`` adds local variables. The process runs on afterwards, whatever happens here.
    """
    if isinstance(target, Path) or variables or not is_readable(target):
        from pyharness.debugger.gdb_reading import dump_by_gdb

        threads, known = dump_by_gdb(target, thread=thread, limit=limit, variables=variables)
    else:
        found = read_stacks(target, only=thread, limit=limit)
        threads, known = found.threads, found.known
    if thread is not None and not threads:
        lwps = [str(lwp) for lwp in known]
        raise UsageError(f"There is no thread {thread}.", nearest(str(thread), lwps) or f"It has {', '.join(lwps)}.")
    return threads

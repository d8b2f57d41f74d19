"""Attaches gdb to a running program without reading any library but the user's own."""

from __future__ import annotations

import stat
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import gdb

from pyharness.host.surroundings import Surroundings
from pyharness.ingdb import console, terminal
from pyharness.ingdb.opening import interpreter
from pyharness.ingdb.opening.names_of_files import without_own
from pyharness.ingdb.process import libraries
from pyharness.ingdb.settings import temporarily
from pyharness.ingdb.stack import unwinder
from pyharness.model.text.source_line import look_below
from pyharness.reading.live import refusal
from pyharness.reading.process import memory_map
from pyharness.reading.process.file_changes import remedy

_NOWHERE = "/nonexistent"
_PATIENCE, _POLL = 5.0, 0.05
"""Seconds that such readings are waited for, and how often to look."""


def attach(pid: int, *, non_stop: bool, symbols: bool = True) -> None:
    """Attach to ``pid`` and have gdb read the user's libraries; all its threads are stopped then.

    ``symbols=False`` leaves the user's libraries for a later ``libraries.load_user_symbols()``: stacks and names work
    without. Raises ``gdb.GdbError`` whose first line says what is wrong and whose second what to do.
    """
    end = time.monotonic() + _PATIENCE
    while not _is_attached(pid, non_stop=non_stop, last=time.monotonic() > end):
        time.sleep(_POLL)
    if symbols:
        libraries.load_user_symbols()
    for path, became in libraries.lost().items():
        terminal.write(f"{path} {became}: {remedy(became)} to debug its code.")


def _is_attached(pid: int, *, non_stop: bool, last: bool) -> bool:
    """Try it; ``False`` where another reading was in the way, which is none of the person's concern but at ``last``."""
    try:
        _attach(pid, non_stop=non_stop)
    except refusal.TracedError as error:
        if last or not error.is_reading:
            raise gdb.GdbError(str(error)) from error
        return False
    except refusal.RefusedError as error:
        raise gdb.GdbError(str(error)) from error
    return True


def _attach(pid: int, *, non_stop: bool) -> None:
    if busy := gdb.selected_inferior().pid:
        raise gdb.GdbError(f"This gdb debugs process {busy} already.\nUse it, or `detach` first.")
    refusal.check(pid)
    configure(non_stop=non_stop)
    try:
        with ExitStack() as during:
            # A libc with debug symbols installed (/usr/lib/debug) would be read in full: gdb always reads libc.
            during.enter_context(temporarily("debug-file-directory", _NOWHERE))
            during.enter_context(temporarily("suppress-cli-notifications", "on"))
            root = Surroundings(pid).root
            _check_libraries(pid, root)
            _see_its_files(root)
            interpreter.read(interpreter.of_process(pid), root)
            console.run(f"attach {pid}")
    except gdb.error as error:
        raise refusal.explained(pid, str(error)) or gdb.GdbError(
            f"gdb cannot attach to {pid}: {error}\n`pyharness doctor` says what keeps it from that."
        ) from error


def _see_its_files(root: str) -> None:
    """Where a program in a container has other files, take its libraries and sources from there.

    Of itself gdb would enter its mount namespace, for which it needs more rights than to trace it.
    """
    look_below(root)
    console.run(f"set sysroot {without_own(root)}")


def _check_libraries(pid: int, root: str) -> None:
    """Refuse a program that would keep gdb waiting: gdb opens each library by its name, whatever lies there now."""
    try:
        text = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:  # it has ended: gdb says so
        return
    for path in {image.path for image in memory_map.images(memory_map.from_proc(text, Surroundings(pid).above))}:
        with suppress(OSError):
            if stat.S_ISFIFO(Path(f"{root}{path}").stat().st_mode):
                raise gdb.GdbError(
                    f"gdb cannot attach to {pid}: the program has loaded {path}, which is a pipe now: gdb would wait"
                    f" there.\nPut the library back. `pyharness stack {pid}` shows where the program stands."
                )


def configure(*, non_stop: bool = False) -> None:
    """What must be in place before gdb sees the program; harmless when repeated."""
    libraries.register()
    unwinder.register()
    gdb.execute("set auto-solib-add off")
    gdb.execute("set displaced-stepping off")  # a gdb that is killed must not leave a thread in code that is moved
    gdb.execute(f"set non-stop {'on' if non_stop else 'off'}")
    with suppress(gdb.error):  # a gdb without debuginfod
        gdb.execute("set debuginfod enabled off")

"""Attaches gdb to a running program without reading any library but the user's own."""

from __future__ import annotations

import os
import pwd
import re
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import gdb

from pyharness.host.process_state import is_kernel_thread, only_reads
from pyharness.ingdb import terminal
from pyharness.ingdb.process import libraries
from pyharness.ingdb.settings import temporarily
from pyharness.ingdb.stack import unwinder

_NOWHERE = "/nonexistent"
_YAMA = Path("/proc/sys/kernel/yama/ptrace_scope")
_YAMA_REMEDIES = {
    1: "The kernel lets only a parent trace (kernel.yama.ptrace_scope is 1). Start the program with pyharness, or allow"
    " it once with `sudo sysctl -w kernel.yama.ptrace_scope=0`, or run gdb as root.",
    2: "The kernel lets only root trace (kernel.yama.ptrace_scope is 2): run gdb as root.",
    3: "This kernel forbids tracing until it is booted again (kernel.yama.ptrace_scope is 3).",
}


_TRACED = re.compile(r"already traced by process (\d+)")
_PATIENCE, _POLL = 5.0, 0.05
"""Seconds that such readings are waited for, and how often to look."""


class TracedError(gdb.GdbError):
    """Another debugger has the process; ``is_reading`` where it is a pyharness that will be gone in a moment."""

    def __init__(self, pid: int, tracer: int) -> None:
        self.is_reading = only_reads(tracer)
        if self.is_reading and _status(tracer):
            super().__init__(
                f"Process {pid} is being read by another pyharness for a moment (gdb, pid {tracer}).\nTry again."
            )
            return
        super().__init__(
            f"Process {pid} is being debugged already, by {_command(tracer)} (pid {tracer}).\n"
            "A process has at most one debugger: detach or end that one first."
        )


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
    for path in libraries.replaced_libraries():
        terminal.write(f"{path} was rebuilt after the program loaded it: start the program anew to debug its code.")


def _is_attached(pid: int, *, non_stop: bool, last: bool) -> bool:
    """Try it; ``False`` where another reading was in the way, which is none of the person's concern but at ``last``."""
    try:
        _attach(pid, non_stop=non_stop)
    except TracedError as error:
        if last or not error.is_reading:
            raise
        return False
    return True


def _attach(pid: int, *, non_stop: bool) -> None:
    check(pid)
    configure(non_stop=non_stop)
    try:
        with ExitStack() as during:
            # A libc with debug symbols installed (/usr/lib/debug) would be read in full: gdb always reads libc.
            during.enter_context(temporarily("debug-file-directory", _NOWHERE))
            during.enter_context(temporarily("suppress-cli-notifications", "on"))
            gdb.execute(f"attach {pid}", to_string=True)
    except gdb.error as error:
        raise _explained(pid, str(error)) from error


def configure(*, non_stop: bool = False) -> None:
    """What must be in place before gdb sees the program; harmless when repeated."""
    libraries.register()
    unwinder.register()
    gdb.execute("set auto-solib-add off")
    gdb.execute("set displaced-stepping off")  # a gdb that is killed must not leave a thread in code that is moved
    gdb.execute(f"set non-stop {'on' if non_stop else 'off'}")
    with suppress(gdb.error):  # a gdb without debuginfod
        gdb.execute("set debuginfod enabled off")


def check(pid: int) -> None:
    """Refuse a process that cannot be attached to, with the reason; silent about what only the kernel knows."""
    status = _status(pid)
    if not status or status.get("State", "").startswith(("Z", "X")):
        raise gdb.GdbError(f"There is no running process {pid}.\nIt has ended, or the number is a wrong one.")
    if is_kernel_thread(pid):
        raise gdb.GdbError(f"Process {pid} is a thread of the kernel: it runs no program.\nName another process.")
    tracer = int(status.get("TracerPid", "0"))
    busy = gdb.selected_inferior().pid
    if busy:
        raise gdb.GdbError(f"This gdb debugs process {busy} already.\nUse it, or `detach` first.")
    if tracer:
        raise TracedError(pid, tracer)


def _explained(pid: int, text: str) -> gdb.GdbError:
    try:
        check(pid)
    except gdb.GdbError as reason:
        return reason
    if by := _TRACED.search(text):  # it has gone meanwhile
        return TracedError(pid, int(by[1]))
    if "not permitted" not in text and "denied" not in text:
        return gdb.GdbError(f"gdb cannot attach to {pid}: {text}\n`pyharness doctor` says what keeps it from that.")
    return gdb.GdbError(f"No permission to attach to process {pid}.\n{_permission_remedy(pid)}")


def _permission_remedy(pid: int) -> str:
    owner = int(_status(pid).get("Uid", f"{os.getuid()}").split()[0])
    if os.geteuid() not in {owner, 0}:
        return f"It belongs to {_user(owner)} and gdb runs as {_user(os.geteuid())}: run gdb as that user, or as root."
    try:
        scope = int(_YAMA.read_text(encoding="ascii"))
    except (OSError, ValueError):
        scope = 0
    in_container = "In a container, start it with --cap-add=SYS_PTRACE; a setuid program can be traced by root only."
    return in_container if os.geteuid() == 0 and scope < 3 else _YAMA_REMEDIES.get(scope, in_container)


def _status(pid: int) -> dict[str, str]:
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


def _command(pid: int) -> str:
    return _status(pid).get("Name", "another program")


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"

"""MI commands for signals: which ones stop, and what one that did means."""

from __future__ import annotations

import re

import gdb

from pyharness.ingdb import console
from pyharness.ingdb.mi.commands import handles, select
from pyharness.ingdb.opening import core_file
from pyharness.ingdb.process.signal_info import signal_info
from pyharness.ingdb.stops.fatal_signal import Sent, explained, mapped
from pyharness.model.errors import HarnessError, UsageError, nearest
from pyharness.protocol import mi

_LINE = re.compile(r"^(SIG\w+)\s+(Yes|No)\s+(Yes|No)\s+(Yes|No)\s+(.*)$", re.MULTILINE)
_DEBUGGERS = frozenset({"SIGTRAP", "SIGINT"})
"""The debugger lives by these."""


@handles(mi.Signals)
def _signals(request: mi.Signals) -> tuple[mi.Signal, ...]:
    if request.stop is not None:
        known = {entry.name for entry in _listed()}
        for name in request.stop:
            if name not in known or name in _DEBUGGERS:
                raise UsageError(f"The program cannot be stopped at {name!r}.", nearest(name, known - _DEBUGGERS))
        console.run("handle all nostop noprint pass")
        if request.stop:
            console.run(f"handle {' '.join(request.stop)} stop print pass")
    return tuple(entry for entry in _listed() if entry.name not in _DEBUGGERS)


def _listed() -> list[mi.Signal]:
    rows = _LINE.findall(console.run("info signals"))
    return [mi.Signal(name, stop == "Yes", meaning) for name, stop, _, _, meaning in rows]


@handles(mi.SignalInfo)
def _signal_info(request: mi.SignalInfo) -> mi.SignalStop:
    thread = select(request.thread)
    try:
        info = signal_info()
        number, code = int(info["si_signo"]), int(info["si_code"])
    except gdb.error as error:
        raise HarnessError(f"Thread {thread.ptid[1]} did not stop at a signal.") from error
    fields = info["_sifields"]
    sent = Sent(number, code, int(fields["_kill"]["si_pid"]), int(fields["_sigfault"]["si_addr"]))
    return explained(sent, gdb.newest_frame(), lambda: core_file.memory() or mapped())

"""A process for what a verb runs of the user's code: where that crashes, this one is left to say so."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from typing import TYPE_CHECKING

from pyharness.host.exit_status import of_program
from pyharness.host.running_now import RunningNow
from pyharness.model.crash import CrashedError

if TYPE_CHECKING:
    from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
_TOLD = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
"""Signals that are for the other process."""


def apart(run: Callable[[], int]) -> int:
    """The status that ``run`` gives, or that it exits with, in a process of its own; ``CrashedError`` where it dies.

    A process that has torch runs it itself: of torch's threads none would be in the other process.
    """
    if "torch" in sys.modules:
        return run()
    RunningNow.share()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {*_TOLD, signal.SIGCHLD})
    own = os.getpid()
    other = os.fork()
    if other:
        return _waited_for(other, before)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    if os.getppid() != own:
        return of_program(-signal.SIGTERM)
    return run()


def _waited_for(process: int, mask: set[int | signal.Signals]) -> int:
    while True:
        came = signal.sigwaitinfo({*_TOLD, signal.SIGCHLD})
        if came.si_signo != signal.SIGCHLD:
            _pass_on(came, process)
            continue
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            return _status(os.waitstatus_to_exitcode(status))


def _pass_on(came: signal.struct_siginfo, process: int) -> None:
    """A key of the terminal's tells both processes; what somebody sends, this one."""
    if came.si_code <= 0:
        os.kill(process, came.si_signo)


def _status(code: int) -> int:
    """The status of a process that has ended: its own, or what a shell says of one that we told to end."""
    if code >= 0 or -code in _TOLD:
        return of_program(code)
    raise CrashedError(RunningNow.name() or "What this verb ran", -code)

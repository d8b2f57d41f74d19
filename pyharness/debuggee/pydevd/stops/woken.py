"""Threads that go on at once when they may; pydevd wakes another one.

A thread that stands waits for an event of its own. Whoever changes its state sets that event, by pydevd's
``_update_stepping_info``; but a loop in there (debugpy 1.8.22) takes the name of its parameter, and what is set is the
event of whichever thread came last, or none if that one has ended. The right one would look again after a fifth of a
second, and ``traced_frames``, which looks where such an event is asked for, would not hear of a step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

_MARK = "pyharness_woken"
_ANY = "*"


def watch(
    keeps_its_step: Callable[[threading.Thread], bool], let_go: Callable[[threading.Thread, Callable[[], None]], None]
) -> None:
    """From now on a step, a jump and *continue* also wake the thread that they are for.

    A thread that ``keeps_its_step`` runs, and is not let go; others are by ``let_go``, which may refuse.
    """
    from _pydevd_bundle import pydevd_thread_lifecycle as lifecycle
    from _pydevd_bundle.pydevd_comm import InternalSetNextStatementThread, InternalThreadCommand

    if hasattr(lifecycle, _MARK):
        return
    setattr(lifecycle, _MARK, True)
    lifecycle.internal_run_thread = _and_wake(lifecycle.internal_run_thread, keeps_its_step, let_go)
    for command in (InternalThreadCommand, InternalSetNextStatementThread):
        command.do_it = _done_and_wake(command.do_it)


def wake(thread: threading.Thread) -> None:
    """Have a thread look again, where it stands, and all others know that its step may have changed."""
    import pydevd
    from _pydevd_bundle.pydevd_constants import get_thread_id

    debugger = pydevd.get_global_debugger()
    if debugger is not None and not debugger.pydb_disposed:
        _wake(debugger, get_thread_id(thread))


def _and_wake(
    run: Callable[..., Any],
    keeps_its_step: Callable[[threading.Thread], bool],
    let_go: Callable[[threading.Thread, Callable[[], None]], None],
) -> Callable[..., Any]:
    def stands_for(thread: threading.Thread, *arguments: Any, **named: Any) -> None:
        if keeps_its_step(thread):
            return
        let_go(thread, lambda: run(thread, *arguments, **named))
        wake(thread)

    return stands_for


def _done_and_wake(do_it: Callable[[Any, Any], Any]) -> Callable[[Any, Any], None]:
    """A command runs on the thread that it is for, between two waits of its loop."""

    def stands_for(command: Any, debugger: Any) -> None:
        try:
            do_it(command, debugger)
        finally:
            if command.thread_id != _ANY:
                _wake(debugger, command.thread_id)

    return stands_for


def _wake(debugger: Any, thread_id: str) -> None:
    debugger.get_internal_queue_and_event(thread_id)[1].set()

"""``pyharness.breakpoint``, ``set_trace`` and ``post_mortem``: the prompt at the line that calls, or where it failed.

A debugger that is here already, as under ``pyharness debug`` or in an IDE, stops instead: nobody else can.
"""

from __future__ import annotations

import gc
import sys
from types import TracebackType
from typing import TYPE_CHECKING

from pyharness.debuggee.in_place.prompt import Prompt
from pyharness.debuggee.pydevd import tracing
from pyharness.debuggee.pydevd.stops import uncaught
from pyharness.debuggee.pydevd.stops.asked_files import ASKED_FILES
from pyharness.debuggee.unpatched import threading
from pyharness.host import recursion
from pyharness.model.errors import UsageError
from pyharness.model.text.visible import say

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


_ENDING = "Python is ending, and opens this prompt no more. pdb stops here: PYTHONBREAKPOINT=pdb.set_trace"


def set_trace(*, header: str | None = None) -> None:
    """Open the prompt at the next line of the caller.

    Args:
        header: A line that is printed before, as ``pdb.set_trace`` does.

    Raises:
        HarnessError: There is no terminal to open it in; with the remedy.

    """
    if header is not None:
        print(header)
    stop_in(sys._getframe(1))


def breakpoint(*, header: str | None = None) -> None:  # noqa: A001  (the name says what it is called by)
    """Do what ``set_trace`` does, for ``breakpoint()``: set ``PYTHONBREAKPOINT=pyharness.breakpoint``.

    Args:
        header: A line that is printed before.

    Raises:
        HarnessError: There is no terminal to open the prompt in; with the remedy.

    """
    if header is not None:
        print(header)
    stop_in(sys._getframe(1))


def post_mortem(error: BaseException | TracebackType | None = None) -> None:
    """Open the prompt where an exception was raised: its frames are looked at as they were left.

    Args:
        error: The exception or its traceback; without one, that which is being handled, else the last that ended
            what was typed to Python.

    Raises:
        HarnessError: There is no exception, or no terminal.

    """
    error = error or sys.exc_info()[1] or getattr(sys, "last_value", None) or getattr(sys, "last_traceback", None)
    if error is not None and not isinstance(error, (BaseException, TracebackType)):
        raise UsageError(f"{error!r} is neither an exception nor a traceback.", "Give the exception that was caught.")
    if error is None:
        raise UsageError("There is no exception to look at.", "Call it in an `except` block, or give it an exception.")
    if isinstance(error, BaseException) and error.__traceback__ is None:
        raise UsageError(
            f"{type(error).__name__} has no traceback: it was not raised in this process, or lost it on its way.",
            "Look at it where it was raised.",
        )
    stop_at(error)


def stop_in(frame: FrameType) -> None:
    """Stop at the next line of ``frame``."""
    if not _is_here():
        return
    ASKED_FILES.add(frame)  # not before: pydevd is to be told, too
    import pydevd

    pydevd.settrace(suspend=True, trace_only_current_thread=True, patch_multiprocessing=False, stop_at_frame=frame)


def stop_soon() -> None:
    """Stop at the next line of the user's that this thread comes to."""
    if not _is_here():
        return
    tracing.stop_soon(threading.current_thread())


def stop_at(error: BaseException | TracebackType) -> None:
    """Stop where ``error`` was raised, until the thread is to go on."""
    if not _is_here():
        return
    trace = error if isinstance(error, TracebackType) else error.__traceback__
    while trace is not None:
        ASKED_FILES.add(trace.tb_frame)
        trace = trace.tb_next
    if isinstance(error, TracebackType):
        uncaught.stop_at(_of_traceback(error), error)
    else:
        uncaught.stop_at(error)


def _is_here() -> bool:
    """Have somebody here who stops this program; whether somebody is."""
    with recursion.room(recursion.IMPORTS):
        if not sys.modules["threading"].main_thread().is_alive():  # as in a function of atexit: debuggers have left
            say(_ENDING)
            return False
        if _is_debugged():
            return True
        if Prompt.opened() is None:
            return False
        uncaught.pass_exits()
        return True


def _is_debugged() -> bool:
    """Whether a Python debugger is here that would stop."""
    here = Prompt.here()
    if here is not None:
        here.wait_if_it_leaves()
    holder = sys.modules.get("_pydevd_bundle.pydevd_constants")
    debugger = holder.get_global_debugger() if holder else None
    return debugger is not None and not debugger.pydb_disposed


def _of_traceback(trace: TracebackType) -> BaseException:
    """The exception that a traceback is of, as far as Python still has it."""
    known = (sys.exc_info()[1], getattr(sys, "last_value", None))
    found = next((each for each in known if each is not None and each.__traceback__ is trace), None)
    return found or next(_that_hold(trace), Exception("post mortem"))


def _that_hold(trace: TracebackType) -> Iterator[BaseException]:
    """Exceptions that the program keeps somewhere, as pytest keeps that of a fixture."""
    holders = (each for each in gc.get_referrers(trace) if isinstance(each, BaseException))
    return (each for each in holders if each.__traceback__ is trace)

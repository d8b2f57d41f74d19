"""A handler of a signal that raises while the thread stands: the program gets the exception when it goes on.

Python runs handlers on the main thread, also while that waits for the person who debugs. What such a handler raised
left the stop: the program ran on, and nobody was told.
"""

from __future__ import annotations

import functools
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from pyharness.debuggee import asked
from pyharness.debuggee.link import quiet_thread
from pyharness.debuggee.pydevd.frames.trace_function import MONITORING
from pyharness.debuggee.unpatched import threading, time
from pyharness.model.plumbing import DEBUGGER, python_family
from pyharness.model.user_code import is_user_python

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_LOOKS, _MOST_LOOKS = 0.005, 200
"""Seconds from one look to the next, and how many."""


class _Kept:
    """What is kept for each thread that stands: one list for each stop that it is in, the innermost last."""

    of_thread: ClassVar[dict[int, list[list[BaseException]]]] = {}


def keep(error: BaseException) -> bool:
    """Have this thread raise ``error`` when it goes on; ``False`` where it does not stand.

    pydevd drops what a question raises that it runs on a thread that stands.
    """
    stops = _Kept.of_thread.get(threading.get_ident())
    if not stops:
        return False
    stops[-1].append(error)
    return True


@contextmanager
def _kept() -> Iterator[list[BaseException]]:
    """What is kept while this thread stands."""
    kept: list[BaseException] = []
    ident = threading.get_ident()
    stops = _Kept.of_thread.setdefault(ident, [])
    stops.append(kept)
    try:
        yield kept
    finally:
        stops.pop()
        if not stops:
            _Kept.of_thread.pop(ident, None)


def watch(debugger: Any) -> None:
    """From now on nothing but a person ends a stop of ``debugger``."""
    wait = debugger._do_wait_suspend

    @functools.wraps(wait)
    def waits(*arguments: Any, **named: Any) -> Any:
        first = outcome = None
        with _kept() as kept:
            while True:
                try:
                    outcome = wait(*arguments, **named)
                except BaseException as error:  # noqa: PERF203  (it seldom does)
                    if not asked.is_programs(error):
                        raise
                    first = first or error
                else:
                    break
        first = first or next(iter(kept), None)
        if first is None:
            return outcome
        if not MONITORING:
            quiet_thread.start(_trace_again, debugger, threading.get_ident())
        raise first

    debugger._do_wait_suspend = waits


def _trace_again(debugger: Any, ident: int) -> None:
    """Trace a thread again, when its trace function has raised: Python takes that away then, and tells nobody."""
    import pydevd_tracing

    frame = None
    for _ in range(_MOST_LOOKS):
        time.sleep(_LOOKS)
        frame = sys._current_frames().get(ident)
        if not _is_debuggers(frame):
            break
    if frame is not None and not debugger.pydb_disposed:
        pydevd_tracing.set_trace_to_threads(debugger.get_thread_local_trace_func(), [ident], create_dummy_thread=False)
        debugger.set_trace_for_frame_and_parents(ident, frame)


def _is_debuggers(frame: FrameType | None) -> bool:
    """Whether the trace function has not raised yet: frames of it are above the user's."""
    while frame is not None and not is_user_python(frame.f_code.co_filename):
        if python_family(frame.f_code.co_name, frame.f_code.co_filename) == DEBUGGER:
            return True
        frame = frame.f_back
    return False

"""``import torch`` without asking debugpy about each function, on the Pythons where it is asked at each call.

Up to Python 3.11 that is half a million times and takes 0.8 s. Meanwhile a short function stands in front, and takes
half of that: it answers itself for files in which nothing stops, and asks debugpy about all others, such as a backend
of the user's that torch imports. From 3.12 on ``sys.monitoring`` asks once for each function.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.pydevd.frames.trace_function import MONITORING, set_trace
from pyharness.debuggee.pydevd.frames.traced_frames import TRACED_FRAMES
from pyharness.debuggee.watched.imports import around_import
from pyharness.model.user_code import is_user_python

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType, ModuleType

_SLOW = "torch"


def watch() -> None:
    """Shorten the first import of torch."""
    if not MONITORING:
        around_import(_SLOW, _shortcut)


@contextmanager
def _shortcut(_module: ModuleType) -> Iterator[None]:
    asked = sys.gettrace()
    debugger = _debugger()
    if asked is None or debugger is None or TRACED_FRAMES.chosen or _stops_anywhere(debugger):
        yield
        return
    shorter = _in_front_of(asked, debugger)
    set_trace(shorter)
    try:
        yield
    finally:
        if sys.gettrace() is shorter:  # debugpy puts its own back when a breakpoint is set meanwhile, or when it goes
            set_trace(asked)


def _debugger() -> Any:
    holder = sys.modules.get("_pydevd_bundle.pydevd_constants")
    return holder.get_global_debugger() if holder else None


def _stops_anywhere(debugger: Any) -> bool:
    """Whether it stops at functions or exceptions, wherever they are."""
    return bool(
        debugger.function_breakpoint_name_to_breakpoint
        or debugger.break_on_caught_exceptions
        or debugger.break_on_user_uncaught_exceptions
    )


def _in_front_of(asked: Callable[..., Any], debugger: Any) -> Callable[..., Any]:
    import pydevd_file_utils

    nothing_stops_in: dict[str, bool] = {}

    def stops_nowhere_in(file: str) -> bool:
        with suppress(Exception):  # the name of a file may be anything; debugpy copes with it
            path = pydevd_file_utils.get_abs_path_real_path_and_base_from_file(file)[1]
            return not is_user_python(file) and path not in debugger.breakpoints
        return False

    def shorter(frame: FrameType, event: str, argument: object) -> Any:
        file = frame.f_code.co_filename
        nothing = nothing_stops_in.get(file)
        if nothing is None:
            nothing = nothing_stops_in[file] = stops_nowhere_in(file)
        return None if nothing else asked(frame, event, argument)

    return shorter

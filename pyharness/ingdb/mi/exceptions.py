"""MI commands for C++ exceptions."""

from __future__ import annotations

from pyharness.ingdb.mi.commands import handles, select
from pyharness.ingdb.stack import backtrace
from pyharness.ingdb.stops import exception_stops
from pyharness.ingdb.stops.exception_stops import Filter, Kind
from pyharness.model.errors import HarnessError
from pyharness.model.user_code import is_users_frame
from pyharness.protocol import mi

_FRAMES = 200


@handles(mi.Catch)
def _catch(request: mi.Catch) -> tuple[int, ...]:
    patterns: dict[Kind, tuple[str, ...] | None] = {"throw": request.throw, "catch": request.catch}
    wanted = {kind: Filter(request.origin, types) for kind, types in patterns.items() if types is not None}
    return tuple(exception_stops.set_stops(wanted))


@handles(mi.ExceptionInfo)
def _exception_info(request: mi.ExceptionInfo) -> mi.CxxException:
    thread = select(request.thread)
    found = exception_stops.latest.get(thread.ptid[1])
    if found is None:
        raise HarnessError(f"Thread {request.thread} did not stop at a C++ exception.")
    kind, exception = found
    frames = backtrace.merged_stack(thread, _FRAMES)
    own = (level for level, frame in enumerate(frames) if frame.language == "native" and is_users_frame(frame))
    level = next(own, -1)
    frame = frames[level] if level >= 0 else None
    return mi.CxxException(kind, exception.type, tuple(exception.bases), exception.what, level, frame)

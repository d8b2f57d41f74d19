"""MI commands for C++ exceptions."""

from __future__ import annotations

from typing import Any

from pyharness.ingdb.mi.commands import mi_command, select
from pyharness.ingdb.stack import backtrace
from pyharness.ingdb.stops import exception_stops
from pyharness.ingdb.stops.exception_stops import FUNCTIONS, ORIGINS, Filter
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.user_code import is_user_source

_FRAMES = 200


@mi_command("ph-catch")
def _catch(request: dict[str, Any]) -> Any:
    """Stop where exceptions are thrown and caught: ``throw``, ``catch`` (patterns of types or null), ``from``.

    It replaces what was set before, and knows the libraries that are loaded now.
    """
    origin = request.get("from") or "own"
    if origin not in ORIGINS:
        raise UsageError(f"{origin!r} is no origin of exceptions.", f"One of {', '.join(ORIGINS)}.")
    asked = {kind: request.get(kind) for kind in FUNCTIONS}
    wanted = {kind: Filter(origin, tuple(types)) for kind, types in asked.items() if types is not None}
    return {"numbers": exception_stops.set_stops(wanted)}


@mi_command("ph-exception-info")
def _exception_info(request: dict[str, Any]) -> Any:
    """What a thread stopped for, and the innermost frame of the user's, with its level in the merged stack."""
    thread = select(request)
    found = exception_stops.latest.get(thread.ptid[1])
    if found is None:
        raise HarnessError(f"Thread {request['thread']} did not stop at a C++ exception.")
    kind, exception = found
    frames = backtrace.merged_stack(thread, _FRAMES)
    own = (level for level, frame in enumerate(frames) if frame.language == "native" and is_user_source(frame.file))
    level = next(own, -1)
    return {
        "kind": kind,
        "type": exception.type,
        "bases": exception.bases,
        "what": exception.what,
        "level": level,
        "frame": frames[level].to_json() if level >= 0 else None,
    }

"""MI commands for data breakpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gdb

from pyharness.ingdb.mi.commands import mi_command, select
from pyharness.ingdb.mi.merged_frame import Place
from pyharness.ingdb.stack import backtrace
from pyharness.ingdb.stops import watch_target, watchpoints
from pyharness.model.user_code import is_user_source

if TYPE_CHECKING:
    from pyharness.ingdb.stops.watch_target import Target
    from pyharness.model.frames import Frame

_FRAMES = 100
_MAX_KNOWN = 1000
_known: dict[tuple[int, int], Target] = {}
"""What was said to lie at an address and length: its values are shown so when only these come back."""


@mi_command("ph-watch-target")
def _watch_target(request: dict[str, Any]) -> Any:
    """What could be watched under a name: ``{"address", "length", "description", "value"}``."""
    target = _target(request)
    if len(_known) >= _MAX_KNOWN:
        _known.clear()
    _known[target.address, target.length] = target
    raw = bytes(gdb.selected_inferior().read_memory(target.address, target.length)) if target.length <= 64 else b""
    return {**_described(target), "value": target.text(raw) if raw else ""}


@mi_command("ph-watch")
def _watch(request: dict[str, Any]) -> Any:
    """Set one on ``expression`` in a frame, or on ``length`` bytes at ``address``.

    With ``object``, the address of a Python tensor, only the indices of ``expression`` count.
    """
    target = _target(request)
    thread = select(request)
    access, condition = request.get("access") or "write", request.get("condition") or ""
    found = watchpoints.watch(target, access, condition, thread.ptid[1])
    return {"number": found.number, **_described(target), "value": target.text(found.last)}


def _target(request: dict[str, Any]) -> Target:
    if request.get("object"):
        return watch_target.of_object(request["object"], request["expression"])
    if request.get("expression"):
        return watch_target.named(Place(request), request["expression"])
    place = int(request["address"]), int(request.get("length") or 8)
    return _known.get(place) or watch_target.at_address(*place)


def _described(target: Target) -> dict[str, Any]:
    return {
        "address": target.address,
        "length": target.length,
        "description": f"{target.name} at {target.address:#x}",
    }


@mi_command("ph-unwatch")
def _unwatch(request: dict[str, Any]) -> Any:
    watchpoints.unwatch(request["numbers"])


@mi_command("ph-watch-hits")
def _watch_hits(request: dict[str, Any]) -> Any:
    """What a stop at data breakpoints means, for each that was hit: the values, and who accessed it."""
    thread = select(request)
    hits = watchpoints.hits_of(thread.ptid[1])
    frames = backtrace.merged_stack(thread, _FRAMES)
    own = next((frame for frame in frames if _is_own(frame)), None)
    return [
        {
            "number": hit.watchpoint.number,
            **_described(hit.watchpoint.target),
            "access": hit.watchpoint.access,
            "old": hit.watchpoint.target.text(hit.old),
            "new": hit.watchpoint.target.text(hit.new),
            "error": hit.error,
            "by": {**frames[0].to_json(), **_line_of_access()} if frames else None,
            "own": own.to_json() if own else None,
        }
        for hit in hits
        if hit.watchpoint.is_valid()
    ]


def _is_own(frame: Frame) -> bool:
    return not frame.plumbing and (frame.language == "python" or is_user_source(frame.file))


def _line_of_access() -> dict[str, Any]:
    """The line of the instruction that has just run: a thread stops behind it, often on the next line."""
    place = gdb.find_pc_line(gdb.newest_frame().pc() - 1)
    return {"line": place.line} if place.symtab and place.line else {}

"""MI commands for data breakpoints."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.mi.commands import handles, select
from pyharness.ingdb.mi.merged_frame import Place
from pyharness.ingdb.stack import backtrace
from pyharness.ingdb.stops import watch_target, watchpoints
from pyharness.model.user_code import is_user_source
from pyharness.protocol import mi

if TYPE_CHECKING:
    from pyharness.ingdb.stops.watch_target import Target
    from pyharness.model.frames import Frame

_FRAMES = 100
_MAX_KNOWN = 1000
_known: dict[tuple[int, int], Target] = {}
"""What was said to lie at an address and length: its values are shown so when only these come back."""


@handles(mi.DescribeWatch)
def _describe_watch(request: mi.DescribeWatch) -> mi.WatchTarget:
    target = _named(request)
    if len(_known) >= _MAX_KNOWN:
        _known.clear()
    _known[target.address, target.length] = target
    raw = bytes(gdb.selected_inferior().read_memory(target.address, target.length)) if target.length <= 64 else b""
    return mi.WatchTarget(target.address, target.length, _description(target), target.text(raw) if raw else "")


@handles(mi.Watch)
def _watch(request: mi.Watch) -> mi.WatchTarget:
    target = _named(request) if request.expression or request.object else _at(request.address, request.length)
    thread = select(request.thread)
    found = watchpoints.watch(target, request.access, request.condition, thread.ptid[1])
    value = target.text(found.last)
    return mi.WatchTarget(target.address, target.length, _description(target), value, found.number)


def _named(request: mi.DescribeWatch | mi.Watch) -> Target:
    if request.object:
        return watch_target.of_object(request.object, request.expression)
    return watch_target.named(Place(request.thread, request.level), request.expression)


def _at(address: int, length: int) -> Target:
    return _known.get((address, length)) or watch_target.at_address(address, length)


def _description(target: Target) -> str:
    return f"{target.name} at {target.address:#x}"


@handles(mi.Unwatch)
def _unwatch(request: mi.Unwatch) -> None:
    watchpoints.unwatch(request.numbers)


@handles(mi.WatchesOver)
def _watches_over(request: mi.WatchesOver) -> tuple[int, ...]:
    select(request.thread)
    return tuple(watchpoints.over())


@handles(mi.WatchHits)
def _watch_hits(request: mi.WatchHits) -> tuple[mi.WatchHit, ...]:
    thread = select(request.thread)
    hits = watchpoints.hits_of(thread.ptid[1])
    frames = backtrace.merged_stack(thread, _FRAMES)
    if frames:
        frames = [replace(frames[0], line=_line_of_access() or frames[0].line), *frames[1:]]
    by = frames[0] if frames else None
    own = next((frame for frame in frames if _is_own(frame)), None)
    return tuple(_told(hit, by, own) for hit in hits if hit.watchpoint.is_valid())


def _told(hit: watchpoints.Hit, by: Frame | None, own: Frame | None) -> mi.WatchHit:
    watched, target = hit.watchpoint, hit.watchpoint.target
    old, new = target.text(hit.old), target.text(hit.new)
    place = watched.number, target.address, target.length, _description(target)
    return mi.WatchHit(*place, watched.access, old, new, by, own, hit.error)


def _is_own(frame: Frame) -> bool:
    return not frame.plumbing and (frame.language == "python" or is_user_source(frame.file))


def _line_of_access() -> int:
    """The line of the instruction that has just run: a thread stops behind it, often on the next line; 0 for none."""
    place = gdb.find_pc_line(gdb.newest_frame().pc() - 1)
    return place.line if place.symtab else 0

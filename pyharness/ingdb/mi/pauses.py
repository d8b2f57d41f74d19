"""Handlers of what a pause asks: to be where Python may be asked."""

from __future__ import annotations

from pyharness.ingdb.calls import safe_point
from pyharness.ingdb.mi.commands import handles, select
from pyharness.protocol import mi


@handles(mi.ComeOut)
def _come_out(request: mi.ComeOut) -> None:
    select(request.thread)
    safe_point.come_out()


@handles(mi.CameOut)
def _came_out(_request: mi.CameOut) -> bool:
    return safe_point.came_out()

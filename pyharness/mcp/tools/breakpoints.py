"""``breakpoints``: where the program stops, or logs and runs on; exceptions, signals and values that stop it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from pyharness.debugger.breaking.breakpoint import Breakpoint
from pyharness.mcp.registry import Answer, Asked, Told, tool
from pyharness.mcp.tools.start import WHERE
from pyharness.model.conditions import log_message
from pyharness.model.text.visible import visible
from pyharness.prompt.commands.breaking import place, point_lines, set_point

if TYPE_CHECKING:
    from pyharness.mcp.service import Service
    from pyharness.prompt.points import Point
    from pyharness.prompt.session import Session


class Wanted(Asked):
    """A place to set."""

    where: str = Field(description=WHERE)
    log: str = Field(default="", description="Print this there and run on; each {EXPRESSION} in it is evaluated there.")
    once: bool = Field(default=False, description="Gone after its first stop.")


class Breakpoints(Asked):
    """What to change; nothing, to list them."""

    session: str = Field(default="", description="The session; the only one if not given.")
    set: list[Wanted] = Field(default=[], max_length=50)
    remove: list[int] = Field(default=[], description="Numbers of the list.")
    catch: str = Field(default="", description="raise TYPE, throw TYPE, catch TYPE (C++), signal NAME, or off.")
    watch: list[str] = Field(
        default=[], description="Stop when such a value changes: t[2], or a C++ variable; at a stop."
    )


class PointTold(BaseModel):
    """A place that is set."""

    number: int
    kind: str
    where: str
    hits: int = Field(description="How often the program has stopped there.")
    loaded: bool = Field(description="Whether code that is loaded has it.")


class BreakpointsTold(Told):
    """All that are set."""

    breakpoints: list[PointTold]


@tool("breakpoints", "Set and list breakpoints", BreakpointsTold, harm="runs")
async def breakpoints(service: Service, asked: Breakpoints) -> Answer:
    """Set, remove and list places where the program stops or logs; also while it runs. Lists all of them."""
    debugged = service.named(asked.session)
    told, shown = await service.asked(debugged, partial(_change, asked), anytime=not asked.watch)
    return Answer(shown, told)


def _change(asked: Breakpoints, session: Session) -> BreakpointsTold:
    for each in asked.set:
        where = place(session, each.where)
        message = log_message.required(each.log, python=where.is_python) if each.log else ""
        set_point(session, Breakpoint(where, message), temporary=each.once)
    if asked.remove:
        session.do(f"delete {' '.join(map(str, asked.remove))}")
    if asked.catch:
        session.do(f"catch {asked.catch}")
    for expression in asked.watch:
        session.do(f"watch {expression}")
    if not (asked.set or asked.remove or asked.catch or asked.watch):
        session.screen.write_lines(point_lines(session))
    return BreakpointsTold(breakpoints=[_told(point) for point in session.points][:40])


def _told(point: Point) -> PointTold:
    return PointTold(
        number=point.number,
        kind=point.kind,
        where=visible(point.breakpoint.where.written)[:200],
        hits=point.hits,
        loaded=point.breakpoint.is_bound,
    )

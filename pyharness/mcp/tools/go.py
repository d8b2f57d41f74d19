"""``go``: the program runs on, to its next stop or no longer than it is waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from pyharness.mcp import stops
from pyharness.mcp.registry import Answer, Asked, tool
from pyharness.mcp.stops import StopTold
from pyharness.mcp.tools.start import WHERE
from pyharness.model.errors import UsageError

if TYPE_CHECKING:
    from pyharness.mcp.service import Service

How = Literal[
    "run", "into", "into_native", "over", "out", "until", "element", "next_node", "next_module", "wait", "pause"
]
_LINES = {"run": "continue", "into": "into", "into_native": "into native", "over": "over", "out": "out"}
_LINES |= {"until": "until", "element": "element", "next_node": "next node", "next_module": "next module"}
_COUNTED = ("into", "into_native", "over")


class Go(Asked):
    """How it runs on."""

    session: str = Field(default="", description="The session; the only one if not given.")
    how: How = Field(
        default="run",
        description="run: to the next stop. into: the first function of the user's, Python or C++. into_native: C++."
        " over: the next line. out: the caller, over the boundary too. until: `where`. element: in a kernel of"
        " torch.compile's, the element that `where` names, as gelu[2, 7]. next_node, next_module: of the graph."
        " wait: for a program that runs. pause: it, wherever it is.",
    )
    where: str = Field(default="", description=f"For until: a line, or WHERE. {WHERE}")
    count: int = Field(default=1, ge=1, le=1000, description="Steps into or over.")
    timeout_s: float = Field(default=30, gt=0, le=3600, description="Seconds to wait for the stop; it runs on then.")


@tool("go", "Run on or step", StopTold, harm="runs")
async def go(service: Service, asked: Go) -> Answer:
    """Run the program on, and answer where it stops: `state` says stopped, running (timeout_s is over), or ended.

    Steps cross the boundary: into goes from Python into C++, out comes back to the next line of Python.
    """
    debugged = service.named(asked.session)
    if asked.how in {"until", "element"} and not asked.where:
        raise UsageError(f"{asked.how} has no where.", "For example: 42, py:train.py:42, or gelu[2, 7] for element.")
    if asked.how == "pause":
        debugged.pause()
    if asked.how in {"pause", "wait"}:
        if debugged.moving is None or not debugged.is_moving:
            return await stops.answer(debugged)
        return await service.settled(debugged, debugged.moving, asked.timeout_s)
    line = _LINES[asked.how]
    if asked.how in {"until", "element"}:
        line = f"{line} {asked.where}"
    elif asked.how in _COUNTED:
        line = f"{line} {asked.count}"
    return await service.settled(debugged, debugged.move(line), asked.timeout_s)

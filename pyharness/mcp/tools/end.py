"""``end``: of a session, and of the program that was started in it."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from pyharness.mcp.registry import Answer, Asked, Told, tool

if TYPE_CHECKING:
    from pyharness.mcp.service import Service


class End(Asked):
    """Which session, and how."""

    session: str = Field(default="", description="The session; the only one if not given.")
    how: Literal["kill", "detach"] = Field(
        "kill", description="kill the program, or detach: it runs on. A process that was attached to always runs on."
    )


class EndTold(Told):
    """What became of it."""

    session: str
    pid: int = Field(description="The program's process, where there was one.")
    runs_on: bool
    exit_code: int | None = None


@tool("end", "End a session", EndTold, harm="ends")
async def end(service: Service, asked: End) -> Answer:
    """End a session. A program that was started in it ends, too, unless it is detached."""
    debugged = service.named(asked.session)
    debuggee, pid = debugged.session.debuggee, debugged.pid
    runs_on = debuggee is not None and pid != 0 and (asked.how == "detach" or not debuggee.ours)
    await asyncio.get_running_loop().run_in_executor(
        None, partial(service.end, debugged.name, detach=asked.how == "detach")
    )
    code = debugged.session.exit_code
    what = f"Process {pid} runs on without a debugger." if runs_on else "The program has ended."
    return Answer(
        f"{debugged.name} is over. {what}", EndTold(session=debugged.name, pid=pid, runs_on=runs_on, exit_code=code)
    )

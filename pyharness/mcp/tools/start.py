"""``start``: a program under both debuggers; started, attached to, or opened from a core file."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from pydantic import Field

from pyharness.debugger.core.shell import CoreFile
from pyharness.debugger.starting.attach import Attachment
from pyharness.debugger.starting.launch import Command
from pyharness.mcp.printed import Printed
from pyharness.mcp.registry import Answer, Asked, ProcessName, tool
from pyharness.mcp.stops import StopTold
from pyharness.model.errors import HarnessError, UsageError
from pyharness.prompt.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyharness.mcp.service import Service

WHERE = (
    "WHERE: py:FILE:LINE, py:FILE:FUNCTION, native:FUNCTION, native:FILE:LINE (C++), fx:NODE, fx:MODULE.PATH,"
    " fx:NODE[INDEX, ...], op:NAMESPACE::NAME, node:AUTOGRAD_NODE;"
    " then ` if CONDITION` (op:, node: ` when nan(out)`), ` hits N`."
)
_ONE = "Name one of script, module, process, core."


class Start(Asked):
    """The program, and how far it goes at first."""

    script: str = Field(default="", description="A Python file to run, from cwd.")
    module: str = Field(default="", description="In place of script: a module, as of python -m.")
    process: ProcessName = Field(
        default="", description="In place of script: a running process, by id, handle or command line."
    )
    core: str = Field(default="", description="In place of script: a core file.")
    args: list[str] = Field(default=[], description="What the program gets as sys.argv[1:].")
    cwd: str = Field(default="", description="The folder that it runs in: the first root if not given.")
    python: str = Field(default="", description="Its interpreter, if not that of its environment.")
    env: dict[str, str] = Field(default={}, description="Added to its environment.")
    breakpoints: list[str] = Field(default=[], description=f"Stop there. {WHERE}")
    run: bool | None = Field(
        default=None,
        description="Run on to the first breakpoint, uncaught exception or crash. True if there are breakpoints;"
        " else it stops at its first line, and a process wherever it is.",
    )
    include: list[str] = Field(default=[], description="Path patterns of library code to step into, too.")
    debug_kernels: bool = Field(default=False, description="torch.compile's kernels are built for debugging (-O0 -g).")
    timeout_s: float = Field(default=60, gt=0, le=3600, description="Seconds to wait for that stop; it runs on then.")


@tool("start", "Start or attach to a program", StopTold, harm="runs")
async def start(service: Service, asked: Start) -> Answer:
    """Debug a program, Python and C++ in one session: a script, a module, a running process, or a core file.

    It answers where the program stands: reason, source, the stack of both languages, variables. A crash or an uncaught
    exception is a stop, too. The session's name goes into every other call; the program ends with `end`.
    """
    plan, printed = _plan(service, asked)
    plan.target.check()
    debugged = service.begin(plan, printed)
    runs = bool(asked.breakpoints) if asked.run is None else asked.run
    try:
        return await service.settled(debugged, debugged.begin(asked.breakpoints, runs=runs), asked.timeout_s)
    except HarnessError:
        service.end(debugged.name, detach=not plan.starts)
        raise


def _plan(service: Service, asked: Start) -> tuple[Plan, Printed | None]:
    if sum(map(bool, (asked.script, asked.module, asked.process, asked.core))) != 1:
        raise UsageError("start takes one program.", _ONE)
    include = tuple(asked.include)
    if asked.process:
        return Plan(Attachment(asked.process, debug_kernels=asked.debug_kernels), include), None
    if asked.core:
        return Plan(CoreFile(str(service.roots.inside(asked.core)))), None
    printed = Printed()
    return Plan(_command(service, asked, printed), include), printed


def _command(service: Service, asked: Start, printed: Printed) -> Command:
    folder = service.roots.folder(asked.cwd)
    if asked.script:
        service.roots.inside(asked.script, folder)
    return Command(
        asked.script or asked.module,
        tuple(asked.args),
        module=bool(asked.module),
        python=service.roots.python(asked.python, folder, asked.script),
        cwd=folder,
        env=_unbuffered(asked.env),
        stdin=subprocess.DEVNULL,
        stdout=printed.file,
        stderr=printed.file,
        apart=True,
        debug_kernels=asked.debug_kernels,
    )


def _unbuffered(env: Mapping[str, str]) -> dict[str, str]:
    """What it prints belongs to the stop that follows."""
    return {"PYTHONUNBUFFERED": "1", **env}

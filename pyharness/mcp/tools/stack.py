"""``stack``: of a session's threads, of any process or core file, of all ranks of a job."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pydantic import Field

from pyharness.debugger.core.header import check_core
from pyharness.mcp import verbs
from pyharness.mcp.registry import Answer, Asked, ProcessName, tool
from pyharness.mcp.verbs import VerbTold
from pyharness.model.errors import HarnessError, UsageError

if TYPE_CHECKING:
    from pyharness.mcp.service import Service
    from pyharness.prompt.session import Session

_RANKS = {0: "the ranks are shown, and none is to blame", 1: "a rank is to blame, or the ranks cannot be shown"}


class Stack(Asked):
    """Whose stack."""

    session: str = Field(
        default="", description="A session: its stopped thread; the only one if nothing else is named."
    )
    process: ProcessName = Field(
        default="", description="In place of it: a running process, by id, handle or command line."
    )
    core: str = Field(default="", description="In place of it: a core file.")
    ranks: str = Field(
        default="",
        description="In place of it: all ranks of a distributed job, by one's id, its launcher, or `all` for the one.",
    )
    threads: bool = Field(default=False, description="All threads, where a session or a job is asked.")
    full: bool = Field(default=False, description="The interpreter's and torch's frames, too.")
    locals: bool = Field(default=False, description="With variables.")
    timeout_s: float = Field(default=60, gt=0, le=600)


@tool("stack", "Show stacks", VerbTold, harm="none")
async def stack(service: Service, asked: Stack) -> Answer:
    """Show the merged stacks, Python and C++: a process that hangs needs no preparation and is not attached to.

    Of a job it shows one tree of all ranks with the collective each waits in, and names the rank that is to blame.
    """
    if sum(map(bool, (asked.session, asked.process, asked.core, asked.ranks))) > 1:
        raise UsageError("stack takes one of session, process, core, ranks.", "Name one of them.")
    if asked.process or asked.core:
        words = ["stack", *_options(asked), "--", asked.process or _core(service, asked.core)]
        return await _verb(service, words, {0: "the stacks are shown"}, asked.timeout_s)
    if asked.ranks:
        named = [] if asked.ranks == "all" else ["--", asked.ranks]
        return await _verb(service, ["ranks", *["--threads"] * asked.threads, *named], _RANKS, asked.timeout_s)
    debugged = service.named(asked.session)
    debugged.require_alive()
    _, shown = await service.asked(debugged, partial(_shown, asked))
    told = VerbTold(command="bt full" if asked.full else "bt", status=0, meaning="the stack is shown")
    return Answer(shown, told)


def _core(service: Service, named: str) -> str:
    """The path of a core file; what is none could be taken for the name of a process."""
    path = service.roots.inside(named)
    check_core(path, whole=False)
    return str(path)


def _options(asked: Stack) -> list[str]:
    return [*["--full"] * asked.full, *["--locals"] * asked.locals]


async def _verb(service: Service, words: list[str], meanings: dict[int, str], seconds: float) -> Answer:
    answer = await verbs.run(service, words, str(service.roots.folders[0]), meanings, seconds)
    told = answer.told
    if isinstance(told, VerbTold) and told.status == 1 and 1 not in meanings:
        message, _, remedy = answer.text.partition("\n")[2].removeprefix("pyharness: ").partition("\n")
        raise HarnessError(message, remedy)
    return answer


def _shown(asked: Stack, session: Session) -> None:
    bt = "bt full" if asked.full else "bt"
    if not asked.threads:
        session.do(bt)
        if asked.locals:
            session.do("locals")
        return
    before = session.where
    try:
        session.do("threads")
        for lwp in sorted(session.shell.tasks):
            if lwp in session.shell.machine.standing or session.shell.immobile:
                session.do(f"thread {lwp}")
                session.do(bt)
    finally:
        session.position = before

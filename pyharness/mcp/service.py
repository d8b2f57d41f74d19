"""What one client has: its sessions, its roots, and the texts and reports that it can still read."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar

from pyharness.mcp import stops
from pyharness.mcp.debugged import Debugged
from pyharness.mcp.groups import Groups
from pyharness.mcp.pages import Pages
from pyharness.model.errors import UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from pathlib import Path

    from pyharness.mcp.printed import Printed
    from pyharness.mcp.registry import Answer
    from pyharness.mcp.roots import Roots
    from pyharness.prompt.plan import Plan
    from pyharness.prompt.session import Session

T = TypeVar("T")
_MOST = 16
"""Sessions at a time."""
REPORTS: ContextVar[Callable[[str], None]] = ContextVar("REPORTS")
"""Who is told, in the call that is handled, what takes a second; from any thread."""


def _seen(come: asyncio.Future[None]) -> None:
    """Look at what has gone wrong where nobody waits any more: else asyncio prints it."""
    if not come.cancelled():
        come.exception()


class Service:
    """All of it ends with ``close``."""

    def __init__(self, roots: Roots) -> None:
        self.roots = roots
        self.pages = Pages()
        self.sessions: dict[str, Debugged] = {}
        self.groups = Groups()
        self.reports: list[Path] = []
        """Folders of reports that were written for this client, in private folders of ours."""
        self._count = 0

    # --- sessions -----------------------------------------------------------------------------------------------------

    def begin(self, plan: Plan, printed: Printed | None) -> Debugged:
        """A new session, of which nothing is started yet."""
        for name, each in list(self.sessions.items()):
            if each.session.exit_code is not None and len(self.sessions) >= _MOST:
                self.end(name, detach=False)
        if len(self.sessions) >= _MOST:
            raise UsageError(f"There are {_MOST} sessions already.", f"End one: {', '.join(self.sessions)}.")
        self._count += 1
        made = Debugged(f"s{self._count}", plan, printed)
        self.sessions[made.name] = made
        return made

    def named(self, name: str) -> Debugged:
        """The session of this name, or the only one where none is named."""
        if not name and len(self.sessions) == 1:
            return next(iter(self.sessions.values()))
        if name not in self.sessions:
            known = ", ".join(self.sessions)
            near = nearest(name, self.sessions) or (f"There are {known}." if known else "start begins one.")
            raise UsageError(f"There is no session {name!r}." if name else "Which session?", near)
        return self.sessions[name]

    def end(self, name: str, *, detach: bool) -> None:
        """End a session; waits for that."""
        self.sessions.pop(name).end(detach=detach)

    def close(self) -> None:
        """End all sessions and verbs with their programs, all at once: a client waits few seconds for its server."""
        ending = [threading.Thread(target=self.end, args=(name,), kwargs={"detach": False}) for name in self.sessions]
        ending.append(threading.Thread(target=self.groups.close))
        for each in ending:
            each.start()
        for each in ending:
            each.join()

    # --- waiting ------------------------------------------------------------------------------------------------------

    async def settled(self, debugged: Debugged, moving: Future[None], seconds: float) -> Answer:
        """Wait for the program's next stop, no longer than that, and say where it is; a call that ends ends no wait."""
        debugged.screen.on_progress = REPORTS.get()
        come = asyncio.wrap_future(moving)
        come.add_done_callback(_seen)
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.shield(come), seconds)
        return await stops.answer(debugged)

    async def asked(self, debugged: Debugged, work: Callable[[Session], T], *, anytime: bool = False) -> tuple[T, str]:
        """Have a session do something where it stands: what that gives, and what it shows.

        A call that is cancelled ends the expression that runs.
        """
        debugged.screen.on_progress = REPORTS.get()
        future = debugged.ask_anytime(work) if anytime else debugged.ask(work)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if future.running():  # else another call's expression runs
                debugged.cancel()
            raise

    @staticmethod
    def progress(text: str) -> None:
        """Tell whoever waits for the call that is handled what takes a second."""
        REPORTS.get()(text)

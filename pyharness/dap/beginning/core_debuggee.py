"""A core file that a session looks into: as the program that it was, standing for ever where it died."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.dap.beginning.debuggee import Debuggee
from pyharness.debugger.core.native import IMMOBILE
from pyharness.debugger.core.shell import CoreFile, CoreShell

if TYPE_CHECKING:
    from pyharness.debugger.shell import Events, Shell


class CoreDebuggee(Debuggee):
    """gdb on a core file; closing it is all that can be done to it."""

    @property
    def _core(self) -> CoreFile:
        target = self._plan.target
        if not isinstance(target, CoreFile):
            raise TypeError(target)
        return target

    def _start(self, events: Events) -> Shell:
        return CoreShell(replace(self._core, progress=self._progress), events=events, listener=self.heard)

    @property
    def unstoppable(self) -> str:
        """Nothing runs."""
        return IMMOBILE

    def begins(self) -> None:
        """Tell the client that the core is there to be looked at; its process id may be another program's by now."""
        name = Path(self._core.path).name
        self._session.client.event("process", {"name": name, "isLocalProcess": True, "startMethod": "attach"})

    def ask_to_end(self) -> None:
        """Close it."""
        self.detach()
        self._session.end()

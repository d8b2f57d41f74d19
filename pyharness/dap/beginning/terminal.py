"""A program in the client's terminal: the client starts it, it calls in at a door of ours and waits there."""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.dap.beginning.debuggee import Debuggee
from pyharness.debugger.starting.attach import Attachment
from pyharness.debugger.starting.child_processes import ChildProcesses
from pyharness.host.folders import current_folder
from pyharness.model.errors import HarnessError
from pyharness.protocol.channel import Child
from pyharness.protocol.children_door import added

if TYPE_CHECKING:
    from pyharness.dap.beginning.plan import Plan
    from pyharness.dap.session import Session
    from pyharness.dapwire.wire import Message
    from pyharness.debugger.starting.launch import Command
    from pyharness.protocol.channel import Message as ChannelMessage

_STARTS = 30.0
"""Seconds that a terminal, and Python in it, may take to start."""


class InTerminal:
    """One start in a terminal; the session has its debuggee when the program has called."""

    def __init__(self, session: Session, plan: Plan, command: Command) -> None:
        command.check()
        self._session, self._plan, self._command = session, plan, command
        self._came = False
        self._door = ChildProcesses(self._calls, _STARTS, Path(command.script).stem)
        session.ask("runInTerminal", self._request(), self._answered)
        self._timer = threading.Timer(_STARTS, session.put, ("call", self._late))
        self._timer.daemon = True
        self._timer.start()

    def close(self) -> None:
        """Nobody waits for the program any more."""
        self._timer.cancel()
        self._door.close()

    def _request(self) -> Message:
        command = self._command
        python = [command.python or sys.executable, "-X", "frozen_modules=off"]
        words = [*(["-m"] if command.module else []), command.script, *command.arguments]
        env = {**command.env, **added(self._door.told, {**os.environ, **command.env}), **dict.fromkeys(command.unset)}
        kind = "external" if self._plan.console == "externalTerminal" else "integrated"
        title = f"pyharness: {Path(command.script).name}"
        return {
            "kind": kind,
            "title": title,
            "cwd": command.cwd or str(current_folder() or "/"),
            "args": [*python, *words],
            "env": env,
        }

    def _calls(self, message: ChannelMessage[Any]) -> None:
        if isinstance(message, Child):
            self._session.put("call", lambda: self._meet(message))

    def _meet(self, message: Child) -> None:
        """The program is there; processes that it starts are not ours to meet here."""
        if self._came or self._session.over:
            self._door.let_go(message.pid)
            return
        self._came = True
        self._timer.cancel()
        command = self._command
        target = Attachment(
            message.handle,
            children=command.children,
            ranks=command.ranks,
            script=command.script,
            file=command.file,
            module=command.module,
            debug_kernels=command.debug_kernels,
            overwritten=command.overwritten,
            ours=True,
        )
        try:
            self._session.debuggee = Debuggee(self._session, replace(self._plan, target=target))
        except HarnessError as error:
            self._fail(error)

    def _answered(self, message: Message) -> None:
        if not message.get("success"):
            self._fail(HarnessError("The client did not start the program in a terminal.", str(message.get("message"))))

    def _late(self) -> None:
        if not self._came:
            python = self._command.python or "this Python"
            self._fail(
                HarnessError(f"The program did not connect within {_STARTS:.0f} s.", f"Does {python} have pyharness?")
            )

    def _fail(self, error: HarnessError) -> None:
        self.close()
        self._session.say(f"{error}\n", important=True)
        self._session.end()

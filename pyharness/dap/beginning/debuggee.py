"""The program that a session debugs: started as the launch arguments say, ended or let go as the client wants."""

from __future__ import annotations

import codecs
import contextlib
import os
import select
import signal
import subprocess
import threading
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from pyharness.dap.events import ProgramEvents
from pyharness.debugger.live.shell import LiveShell
from pyharness.debugger.native.filters import NativeFilters
from pyharness.debugger.starting.attach import Attachment
from pyharness.debugger.starting.launch import Command
from pyharness.host.process_state import tasks
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyharness.dap.beginning.plan import Plan
    from pyharness.dap.session import Session
    from pyharness.debugger.shell import Events, Shell
    from pyharness.debugger.starting.target import Target

_LAST_WORDS = 1.0
"""Seconds to wait for output after the program's end: a process that it left behind may hold the pipe for ever."""
_CHUNK = 1 << 16
_LINE_SECONDS = 0.01
"""How long the rest of a line is waited for: print() writes its newline apart where nothing is buffered."""


class Debuggee:
    """One program under both debuggers; its session hears of it through ``heard``."""

    def __init__(self, session: Session, plan: Plan) -> None:
        self._session = session
        self._plan = plan
        self.configured = False
        """The client has said all that it wants set before the program begins."""
        self.keep: bool | None = None
        """Whether the program outlives the session; ``None``: as is usual."""
        self._readers: list[threading.Thread] = []
        self._progress_number = 0
        self._open = True
        self.own_threads: frozenset[int] = frozenset()
        """LWPs of the debuggers' threads in the program: those beside the main one before it begins."""
        session.native_filters = NativeFilters()
        self.heard = ProgramEvents(session, self)
        self.shell = self._start(session.fresh_events())

    def _start(self, events: Events) -> Shell:
        with self._prepared() as target:
            plan = self._plan
            return LiveShell(
                target,
                plan.include,
                self._progress,
                crashes=plan.crashes,
                eval_timeout=plan.eval_timeout,
                events=events,
                listener=self.heard,
                gdb_scripts=plan.gdb_scripts,
            )

    @property
    def included(self) -> tuple[str, ...]:
        """Globs of library code that counts as the user's."""
        return self._plan.include

    @property
    def gdb_scripts(self) -> tuple[str, ...]:
        """Scripts of the person's own that gdb reads, by their absolute paths."""
        return self._plan.gdb_scripts

    @property
    def stop_on_entry(self) -> bool:
        """Whether to stop at the first line."""
        return self._plan.stop_on_entry

    @property
    def unstoppable(self) -> str:
        """Why no breakpoint stops it; empty where they do."""
        return "" if self._plan.debug else "The program was started without debugging."

    @property
    def plumbing(self) -> bool:
        """Whether every frame of the interpreter's and torch's is shown."""
        return self._plan.plumbing

    @property
    def script(self) -> str:
        """The file that was started."""
        return self._plan.target.file

    @property
    def python(self) -> str:
        """The program's interpreter, as far as it was named."""
        return self._plan.target.python

    def begins(self) -> None:
        """The program stands before its first line."""
        process: dict[str, object] = {"systemProcessId": self.shell.process.pid, "isLocalProcess": True}
        launched = self._plan.target.ours
        name = self._plan.target.script or f"process {self.shell.process.pid}"
        process |= {"name": name, "startMethod": "launch" if launched else "attach"}
        self._session.client.event("process", process)
        if launched:
            self.own_threads = frozenset(tasks(self.shell.process.pid)) - {self.shell.process.pid}

    # --- output -------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _prepared(self) -> Iterator[Target]:
        """The target; one that is started here with its output in pipes, whose other ends are read.

        Closes what is the program's alone.
        """
        command = self._plan.target
        if isinstance(command, Attachment):
            yield replace(command, progress=self._progress)
            return
        if not isinstance(command, Command):
            raise TypeError(command)
        ends = {}
        for name in ("stdout", "stderr"):
            incoming, ends[name] = os.pipe()
            self._read(incoming, name)
        env = {"PYTHONUNBUFFERED": "1", **command.env}
        try:
            yield replace(command, stdin=subprocess.DEVNULL, stdout=ends["stdout"], stderr=ends["stderr"], env=env)
        finally:
            for end in ends.values():
                os.close(end)

    def _read(self, incoming: int, category: str) -> None:
        def read() -> None:
            decode = codecs.getincrementaldecoder("utf-8")("replace").decode
            while data := _read_lines(incoming):
                self._session.say(decode(data), category=category)
            os.close(incoming)

        thread = threading.Thread(target=read, name=f"pyharness-{category}", daemon=True)
        self._readers.append(thread)
        thread.start()

    # --- progress -----------------------------------------------------------------------------------------------------

    def _progress(self, text: str) -> None:
        """What takes long begins."""
        if self._session.supports.get("supportsProgressReporting"):
            self.progress_end()
            self._progress_number += 1
            body = {"progressId": str(self._progress_number), "title": f"pyharness: {text}", "cancellable": False}
            self._session.client.event("progressStart", body)
            self._session.put("call", self.progress_end)

    def progress_end(self) -> None:
        """Nothing takes long any more."""
        if self._progress_number:
            self._session.client.event("progressEnd", {"progressId": str(self._progress_number)})
            self._progress_number = 0

    # --- the end ------------------------------------------------------------------------------------------------------

    def ask_to_end(self) -> None:
        """Send the signal that a program may hear and tidy up for."""
        with suppress(ProcessLookupError):
            os.kill(self.shell.process.pid, signal.SIGTERM)

    def terminate(self) -> None:
        """End the program."""
        self._once(self.shell.kill)

    def detach(self) -> None:
        """Leave the program running without any debugger."""
        self._once(self.shell.let_go)

    def release(self) -> None:
        """The session is over."""
        if self.keep or (self.keep is None and not self._plan.target.ours):
            self.detach()
        else:
            self.terminate()

    def close(self) -> None:
        """The program has ended."""
        self._once(lambda: None)

    def _once(self, do: Callable[[], None]) -> None:
        if not self._open:
            return
        self._open = False
        with suppress(HarnessError):
            do()
        self.shell.close()
        if self.shell.exit_code is not None:
            for reader in self._readers:
                reader.join(_LAST_WORDS)


def _read_lines(descriptor: int) -> bytes:
    """What can be read, up to the end of a line where that comes soon; empty at the end."""
    data = os.read(descriptor, _CHUNK)
    while data and not data.endswith(b"\n") and len(data) < _CHUNK:
        ready, _, _ = select.select([descriptor], [], [], _LINE_SECONDS)
        more = os.read(descriptor, _CHUNK) if ready else b""
        if not more:
            break
        data += more
    return data

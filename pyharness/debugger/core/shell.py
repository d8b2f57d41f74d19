"""A core file in place of a program: front doors look into it as into one that stands, and never see it go on."""

from __future__ import annotations

import os
import queue
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.debugger.changed_sources import ChangedSources
from pyharness.debugger.core.header import check_core, check_program
from pyharness.debugger.core.native import IMMOBILE, REOPEN, CoreLostError, CoreNative
from pyharness.debugger.machine import Machine
from pyharness.debugger.python.side import PythonSide
from pyharness.debugger.shell import Shell
from pyharness.debugger.stop import Stopped
from pyharness.host.surroundings import Surroundings
from pyharness.model.errors import HarnessError
from pyharness.model.frozen import frozen
from pyharness.protocol.mi import Armed

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator

    from pyharness.debugger.action import Action, Request
    from pyharness.debugger.core.native import OpenedCore
    from pyharness.debugger.listener import Listener
    from pyharness.debugger.native.side import NativeSide
    from pyharness.debugger.python.dap_client import DapClient
    from pyharness.debugger.shell import Events
    from pyharness.debugger.starting.child_processes import ChildProcesses
    from pyharness.protocol.agent import Request as AgentRequest
    from pyharness.protocol.channel import Go, Hello, Message, Welcome
    from pyharness.protocol.question import Answer


@frozen
class CoreFile:
    """What to open; as a ``debugger.starting.target.Target``, but nothing is started."""

    path: str
    program: str = ""
    """The executable that made it; the one that the core names when empty."""
    gdb_scripts: tuple[str, ...] = ()
    """Scripts of the person's own that gdb reads first, by their absolute paths."""
    progress: Callable[[str], None] = field(default=lambda _text: None, compare=False)
    module: bool = False
    python: str = ""
    ours: bool = False

    @property
    def script(self) -> str:
        """What a client shows as its name."""
        return self.path

    @property
    def file(self) -> str:
        """The core file: sources are looked for beside it."""
        return self.path

    def check(self) -> None:
        """Raise what can be said beforehand: it is no core file, or only a part of one."""
        check_core(Path(self.path))
        if self.program:
            check_program(Path(self.program))


class CoreShell(Shell):
    """The shell of a core file, with gdb alone; nothing is called that starts a program's."""

    immobile = IMMOBILE

    def __init__(self, core: CoreFile, *, events: Events | None = None, listener: Listener | None = None) -> None:
        core.check()
        core.progress(f"reading {Path(core.path).name}")
        heard: Events = events or queue.SimpleQueue()
        self._core = CoreNative(lambda notice: heard.put(("gdb", notice)))
        try:
            self._core.prepare(core.gdb_scripts)
            opened = self._core.open(str(Path(core.path).resolve()), core.program)
        except BaseException:
            self._core.close()
            raise
        super().__init__(CoreMachine(opened), CorePython(), heard, listener)
        self._contents = opened.contents
        self.native = self._core
        self._core.on_hint = self._tell_important
        self.sources = ChangedSources.of_core(Path(core.path), self._tell_important)
        self.process = CoreProcess(self._contents.pid)
        heard.put(("core", self._contents.lacks))

    @property
    def loaded_user_libraries(self) -> bool:
        """Whatever was loaded is there to be looked at."""
        return True

    @property
    def tasks(self) -> dict[int, str]:
        """The threads that the core file has."""
        return self._contents.threads

    def _take(self, source: str, item: Any) -> bool:
        match source:
            case "core":
                self.ready = True
                self._listener.ready()
                self._listener.configure()
                if item:
                    self._listener.output("".join(f"{sentence}\n" for sentence in item), "important")
            case "gdb":
                if item is None:
                    raise CoreLostError
            case _:
                return False
        return True

    @contextmanager
    def excused(self) -> Iterator[None]:
        """Nothing can end here."""
        yield

    def fate(self) -> str:
        """A core file is as it was."""
        return REOPEN

    def perform(self, actions: list[Action]) -> None:
        """There are no actions."""

    @property
    def armed(self) -> Armed:
        """Nothing: no step is made."""
        return Armed()

    def ask_agent(self, thread: int, request: AgentRequest[Answer]) -> Answer | None:
        """Nobody is there to be asked."""
        del thread, request
        raise HarnessError(IMMOBILE)

    def attach(self) -> NativeSide:
        """gdb has it open."""
        return self._core

    def pause(self, thread: int) -> None:
        """Nothing runs."""
        del thread
        raise HarnessError(IMMOBILE)

    def jump(self, thread: int, target: int) -> None:
        """Nothing can go on."""
        del thread, target
        raise HarnessError(IMMOBILE)

    def let_go(self) -> None:
        """Close it."""
        self.close_gdb()

    def kill(self, ended: Callable[[], None] = lambda: None) -> None:
        """Close it: what it was has ended long ago."""
        ended()
        self.close_gdb()

    def close(self, *, let_go: bool = True) -> None:
        """Close it."""
        self.close_gdb(let_go=let_go)

    def close_gdb(self, *, let_go: bool = True) -> None:
        """End gdb, which has nothing to detach from."""
        self._core.close(let_go=let_go)


class CoreMachine(Machine):
    """Stands at the one stop that there is, once the client has configured."""

    def __init__(self, opened: OpenedCore) -> None:
        super().__init__()
        self._stop = Stopped(opened.contents.thread, "native", "signal" if opened.signal else "pause")

    def request(self, kind: Request, enabled: object = ()) -> list[Action]:
        """The first lets the client see it; any other is refused."""
        del kind, enabled
        if self.started:
            raise HarnessError(IMMOBILE)
        self.started, self.focus = True, self._stop
        return []


class CorePython(PythonSide):
    """The Python half without a debugpy: it is read from memory, by gdb."""

    def __init__(self) -> None:
        super().__init__(lambda _event: None)
        self.deliver = lambda _command, _arguments: {}

    @property
    def _dap(self) -> DapClient:
        raise HarnessError(IMMOBILE)

    def configured(self) -> None:
        """Nobody waits for that."""


class CoreProcess:
    """The process that a core file is of: it has ended."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.exit_code: int | None = None
        self.exit_known = False
        self.packages: dict[str, str] = {}
        self.surroundings = Surroundings(os.getpid())  # what is read of it is read here

    @property
    def children(self) -> ChildProcesses | None:
        """Are not in it."""
        return None

    def debugpy(self, hello: Hello) -> socket.socket:
        """Nobody serves."""
        raise HarnessError(IMMOBILE, str(hello))

    def answer(self, answer: Welcome | Go, to: Message[Any]) -> None:
        """Nobody asks."""

    def let_go(self) -> None:
        """Nothing is held."""

    def end(self, *, at_once: bool = False) -> None:
        """Nothing to end: the program of a core file has ended."""

    def wait(self) -> int:
        """The exit code 0: the program has ended, and nobody knows how."""
        return 0

    def close(self) -> None:
        """Nothing is open."""

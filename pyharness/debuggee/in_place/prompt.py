"""The prompt that stands in this program's terminal: a process of its own, because no program can stop itself.

It debugs this program as it debugs any that runs already, by the program's handle. It is nobody's child, so that the
program has none that it did not start, and it has the terminal while it stands: in between, and when it has left, the
program does.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from pyharness.debuggee.entries import late
from pyharness.debuggee.in_place.harness import Harness
from pyharness.debuggee.in_place.stand_in import StandIn
from pyharness.debuggee.in_place.terminal import OwnTerminal
from pyharness.debuggee.link import quiet_thread
from pyharness.debuggee.link.served import Served
from pyharness.debuggee.pydevd.stops.going_on import GoingOn
from pyharness.debuggee.unpatched import select, socket, threading
from pyharness.host.descriptors import socket_above_streams
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Callable

_PYTHON = "PYHARNESS_PYTHON"
"""The interpreter that has the debugger, where it is another than the program's."""
_LIFELINE = 3
"""The number that its end of the lifeline has there."""
_CHUNK = 64
_LIMITS = "`ulimit -n` and `ulimit -u` show what the program may open and start."
_PACKAGE = Path(__file__).resolve().parents[2]
_OURS = ("PYHARNESS_CHILDREN", "PYTHONINSPECT")
"""Variables that are meant for the program."""


class Prompt:
    """One that was opened here, from its start to its end."""

    current: ClassVar[Prompt | None] = None

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._terminal = OwnTerminal()
        self.input = StandIn()
        self.over = threading.Event()
        """Set when the prompt has ended, and the program has its terminal again."""
        self.on_continue: Callable[[], object] | None = None
        """Called once, when the thread that stood goes on and makes no step."""
        self._ready = threading.Event()
        self._reads = threading.Lock()
        self._said = b""
        """How it leaves; it says so before it lets any thread go."""
        self._ours, theirs = map(socket_above_streams, socket.socketpair())
        """Whoever has the other end lives."""
        name = late.start("")["name"]
        served = Served.current
        if served is not None:
            served.on_ready = self._ready.set
        self.input.begin()
        try:
            _start(name, self._terminal.descriptor, theirs.fileno())
        except BaseException:
            self.input.end()
            raise
        finally:
            theirs.close()
        quiet_thread.start(self._watch)

    @classmethod
    def opened(cls) -> Prompt | None:
        """The one that stands, or a new one; ``None`` where it said in the terminal why there can be none."""
        before = cls.here()
        if before is not None:
            before.over.wait()  # it is about to leave: else nobody would ask for another
        for stream in filter(None, (sys.stdout, sys.stderr)):
            with suppress(OSError, ValueError):
                stream.flush()
        if cls.current is None:
            atexit.register(_end)
        hook = sys.breakpointhook
        try:
            cls.current = made = cls()
        except OSError as error:
            raise HarnessError(f"No prompt can be opened here: {error.strerror}.", _LIMITS) from error
        GoingOn.listener, GoingOn.on_stop = _goes_on, _stands
        made._ready.wait()
        if hook is not sys.__breakpointhook__:  # debugpy has put its own there
            sys.breakpointhook = hook
        return None if made.over.is_set() else made

    @classmethod
    def here(cls) -> Prompt | None:
        """The last one that this process, and no other that forked it, has opened."""
        return cls.current if cls.current is not None and cls.current._owner == os.getpid() else None

    @property
    def quits(self) -> bool:
        """Whether the person has left by `quit`."""
        return self._said == b"quit"

    def wait_if_it_leaves(self) -> None:
        """Wait until it has left, where it has begun to, or dies: a thread goes on as soon as debugpy's link is cut."""
        if not self._hears() or self._said or self._terminal.is_let_go:
            self.over.wait()

    def let_go(self) -> None:
        """The program ends: have it leave first, so that it writes nothing into what comes after."""
        with suppress(OSError):
            self._ours.shutdown(socket.SHUT_WR)
        self.over.wait()

    def _hears(self) -> bool:
        """Take what it has said by now; whether it may say more."""
        with self._reads:
            try:
                data = self._ours.recv(_CHUNK, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return True
            except OSError:
                return False
            self._said += data
            return bool(data)

    def _watch(self) -> None:
        """Whatever becomes of it, the program has its terminal afterwards."""
        while self._hears():
            select.select([self._ours], [], [])
        self._terminal.take_back()
        self.input.end()
        self._terminal.close()
        with self._reads:
            self._ours.close()
        self.over.set()
        self._ready.set()


def _stands() -> None:
    """A thread stands: the prompt is about to be put in front."""
    here = Prompt.here()
    if here is not None and not here.over.is_set():
        here.input.begin()


def _goes_on(steps: bool) -> None:  # noqa: FBT001  (called by position)
    """A thread goes on: where the prompt leaves, not before it has left."""
    here = Prompt.here()
    if here is None:
        return
    here.wait_if_it_leaves()
    here.input.end()
    if not steps and here.on_continue is not None:
        call, here.on_continue = here.on_continue, None
        call()


def _end() -> None:
    here = Prompt.here()
    if here is not None and not here.over.is_set():
        here.let_go()


def _start(handle: str, terminal: int, lifeline: int) -> None:
    """Start it in the terminal; what is started forks, and is waited for."""
    python = Harness.python or os.environ.get(_PYTHON) or sys.executable
    start, packages = str(_PACKAGE / "debuggee" / "start.py"), {"pyharness": str(_PACKAGE.parent)}
    words = [python, start, "verb", json.dumps(packages), "debug", "--in-place", str(_LIFELINE), handle]
    environment = {name: value for name, value in os.environ.items() if name not in _OURS}
    streams = [(os.POSIX_SPAWN_DUP2, terminal, stream) for stream in range(3)]
    try:
        begun = os.posix_spawn(
            python,
            words,
            environment,
            file_actions=[*streams, (os.POSIX_SPAWN_DUP2, lifeline, _LIFELINE)],
            setsigmask=(),
            setsigdef=(signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP, signal.SIGCHLD, signal.SIGPIPE),
        )
    except OSError as error:
        raise HarnessError(
            f"The prompt cannot be started: {python or 'this Python'}: {error.strerror}.",
            f"{_PYTHON} names the interpreter that pyharness is installed in.",
        ) from error
    with suppress(ChildProcessError):  # the program collects all of its children
        os.waitpid(begun, 0)

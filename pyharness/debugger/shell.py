"""One program and its debuggers, as every front door sees them: alive (`LiveShell`), or a core file (`CoreShell`)."""

from __future__ import annotations

import queue
from abc import ABC, abstractmethod
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from pyharness.debugger.breaking.breakpoints import Breakpoints
from pyharness.debugger.listener import Listener
from pyharness.model.errors import HarnessError
from pyharness.protocol.channel import Ready

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pyharness.debugger.action import Action, Request
    from pyharness.debugger.breaking.breakpoint import Breakpoint
    from pyharness.debugger.breaking.failed_conditions import FailedCondition
    from pyharness.debugger.changed_sources import ChangedSources
    from pyharness.debugger.machine import Machine
    from pyharness.debugger.native.side import NativeSide
    from pyharness.debugger.python.side import PythonSide
    from pyharness.debugger.starting.target import Process
    from pyharness.debugger.stop import Stopped
    from pyharness.protocol.agent import Request as AgentRequest
    from pyharness.protocol.mi import Armed
    from pyharness.protocol.question import Answer

Events: TypeAlias = "queue.SimpleQueue[tuple[str, Any]]"
"""What comes in: its source (``program``, ``debugpy``, ``gdb``, ``exit`` or a front door's own), and the item."""
_LATE_SECONDS = 10.0
"""How long nothing comes before a person is told what is waited for: torch loads in less."""


class Shell(ABC):
    """Feeds the state machine what comes in, on the caller's thread, and tells the listener what comes of it."""

    immobile = ""
    """Why nothing can go on or be changed; empty where it can."""
    process: Process
    sources: ChangedSources

    def __init__(self, machine: Machine, python: PythonSide, events: Events, listener: Listener | None) -> None:
        self._events = events
        self._listener = listener or Listener()
        self.machine = machine
        self.python = python
        self.breakpoints = Breakpoints(python, self._listener)
        self.native: NativeSide | None = None
        """gdb, once it is attached."""
        self.failed_conditions: dict[int, FailedCondition] = {}
        """LWP → the condition that could not be tested where the thread stands, until that stop is described."""
        self.ready = False
        """The program stands before its first line."""
        self.asks_to_start = Ready()
        """The program's message that it is ready, answered when its first action is known."""
        self.held = False
        """gdb may have stopped the program: only SIGKILL reaches it."""
        self.lost = False
        """A debugger has died, and that was raised."""
        self.exit_code: int | None = None
        self.lack = ""
        """Why the program has no agent; empty where it has one."""
        self._left = False
        """Whoever waits for a stop is to wait no longer."""
        self._told: Stopped | None = None
        """The stop that the listener was told of."""
        self._told_once: set[str] = set()

    def _tell_important(self, text: str) -> None:
        """Tell a person what holds at each stop at the first, in every front door."""
        self._tell_once(text, "important")

    def _tell_once(self, text: str, category: str = "console") -> None:
        """Tell what holds at each stop in a library at the first."""
        if text not in self._told_once:
            self._told_once.add(text)
            self._listener.output(f"{text}\n", category)

    @property
    def is_ending(self) -> bool:
        """Whether the program is at its end, as far as it has said so, or beyond it."""
        return self.exit_code is not None

    # --- what comes in ------------------------------------------------------------------------------------------------

    def pump(self, done: Callable[[], bool], late: Callable[[], None] | None = None) -> None:
        """Handle what comes until ``done`` or the program's end; ``late`` is called whenever nothing comes for long."""
        while not done() and self.exit_code is None and not self._left:
            event = self._next(_LATE_SECONDS if late else None)
            if event:
                self.handle(*event)
            elif late:
                late()

    def tell_late(self) -> None:  # noqa: B027  (what is here has begun)
        """Tell what is waited for, where the program does not begin for long."""

    def _next(self, seconds: float | None) -> tuple[str, Any] | None:
        with suppress(queue.Empty):
            return self._events.get(timeout=seconds)
        return None

    def handle(self, source: str, item: Any) -> None:
        """Handle one event of the queue."""
        with self.excused():
            if source != "left" and not self._take(source, item):
                self._listener.other(source, item)
        self._tell_stop()

    def _tell_stop(self) -> None:
        """Tell the listener of the stop that has become the one to look at."""
        focus = self.machine.focus
        if focus is not self._told and self.machine.started and self.exit_code is None:
            self._told = focus
            if focus is not None:
                self.breakpoints.has_stopped = True
                self._listener.stopped(focus)

    # --- what goes out ------------------------------------------------------------------------------------------------

    def go(self, request: Request, late: Callable[[], None] | None = None) -> Stopped | None:
        """Do what the client asks and wait for the next stop; ``None`` at the program's end. ``late`` is for `pump`."""
        self.catch_up()
        if self.exit_code is None:
            self.begin(request)
        self.pump(lambda: self.machine.focus is not None, late)
        return self.machine.focus if self.exit_code is None else None

    def begin(self, request: Request) -> None:
        """Do what the client asks; where that cannot even begin, the program still stands where it did."""
        focus = self.machine.focus
        try:
            with self.excused():
                self._begin(self.machine.request(request, self.breakpoints.enabled))
        except HarnessError:
            if focus is not None and not self.lost:
                self.machine.stays(focus)
                self._told = None  # a client that was answered already takes it to run
                self._tell_stop()
            raise
        self._tell_stop()

    def _begin(self, actions: list[Action]) -> None:
        """Do all of them before another thread's stop is told: it would end a step that is only half begun."""
        self.machine.beginning = True
        try:
            self.perform(actions)
        finally:
            self.machine.beginning = False
        if self.exit_code is None:
            self.perform(self.machine.next_waiting(self.breakpoints.enabled))

    def catch_up(self) -> None:
        """Handle what came while the program stood: it may have been killed, or a debugger may."""
        while self.exit_code is None and not self._events.empty():
            self.handle(*self._events.get())

    def interrupt(self) -> None:
        """End the expression that runs, in either language, and nothing else; from any thread."""
        if self.native and self.native.asking.ending.end():
            return  # Python hears a word to cancel when it has the GIL, and would end what is asked next
        if self.python.alive and self.ready:  # before, nothing is asked, and the program does not know the word yet
            with suppress(HarnessError):  # its program has just ended
                self.python.asking.interrupt()

    def client_leaves(self) -> None:  # noqa: B027  (what is here is done at once)
        """Whoever waits is about to leave: end what takes long and is none of the program's; from any thread."""

    def set_breakpoint(self, new: Breakpoint) -> None:
        """Stop, or log, there from now on; a native place has gdb come where there is native code of the user's."""
        if new.where.kind == "native" and self.loaded_user_libraries:
            self.attach()
        self.breakpoints.add(new, self.native)
        if new.in_cxx and self.native is None and self.loaded_user_libraries:
            self.breakpoints.bind_native(self.attach())

    def turn_to(self, thread: int) -> Stopped | None:
        """Have steps go on from a thread whose stop waits in line, and tell nobody; ``None`` for another thread."""
        turned = self.machine.turn_to(thread)
        if turned is not None:
            self._told = turned
        return turned

    def leave(self) -> None:
        """Have ``pump`` return, from any thread."""
        self._left = True
        self._events.put(("left", None))

    # --- what differs -------------------------------------------------------------------------------------------------

    @abstractmethod
    def _take(self, source: str, item: Any) -> bool:
        """Take an event that is for this shell; ``False`` for one of the front door's own."""

    @abstractmethod
    @contextmanager
    def excused(self) -> Iterator[None]:
        """What fails because the program has just ended is no failure; ``exit_code`` is set then."""

    @abstractmethod
    def perform(self, actions: list[Action]) -> None:
        """Do what the machine says, in its order."""

    @property
    @abstractmethod
    def armed(self) -> Armed:
        """What the last *into* armed."""

    @abstractmethod
    def ask_agent(self, thread: int, request: AgentRequest[Answer]) -> Answer | None:
        """Ask the agent on a stopped thread; ``None`` where the program has no agent."""

    def ask_any(self, request: AgentRequest[Answer]) -> Answer | None:
        """Ask it on the thread that is stopped in native code, or on the one that keeps that from Python."""
        focus = self.machine.focus
        return self.ask_agent(focus.thread, request) if focus else None

    def ask_owner(self, thread: int, request: AgentRequest[Answer]) -> Answer | None:
        """Ask it on a thread for which the one that stands works."""
        return self.ask_agent(thread, request)

    @abstractmethod
    def attach(self) -> NativeSide:
        """gdb, with the user's symbols read."""

    @property
    @abstractmethod
    def loaded_user_libraries(self) -> bool:
        """Whether there is native code of the user's to look into."""

    @property
    @abstractmethod
    def tasks(self) -> dict[int, str]:
        """The threads of the program: LWP → the kernel's name."""

    def thread_names(self, tasks: Mapping[int, str]) -> dict[int, str]:
        """What Python calls the threads of ``tasks``, by LWP; those of debuggers are empty."""
        del tasks
        return self.python.names

    def thread_label(self, thread: int) -> str:
        """A thread for people: the number that it has at a prompt, and its name."""
        tasks = self.tasks
        name = "MainThread" if thread == self.process.pid else self.thread_names(tasks).get(thread, tasks.get(thread))
        return f"thread {thread} ({' '.join(name.split())})" if name else f"thread {thread}"

    @abstractmethod
    def pause(self, thread: int) -> None:
        """Stop the program wherever it is; ``thread`` where Python code does not come to a line."""

    @abstractmethod
    def jump(self, thread: int, target: int) -> None:
        """Have a thread that stands in Python code go on at a target of debugpy's; its stop there is told."""

    @abstractmethod
    def fate(self) -> str:
        """What became of the program that a debugger has left, once it was let go."""

    @abstractmethod
    def let_go(self) -> None:
        """Take everything out of the program that could stop it, and let it run without a debugger."""

    @abstractmethod
    def kill(self, ended: Callable[[], None] = lambda: None) -> None:
        """End the program, then the debuggers; ``ended`` is called in between."""

    @abstractmethod
    def close(self, *, let_go: bool = True) -> None:
        """Give back everything; a program that still runs runs on."""

    @abstractmethod
    def close_gdb(self, *, let_go: bool = True) -> None:
        """Detach gdb and end it."""

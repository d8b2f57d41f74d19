"""The state machine that merges two debuggers: events and requests in, actions out, no I/O.

Threads are kernel thread ids (LWPs): the one name that both debuggers' threads share.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from pyharness.debugger.action import (
    Action,
    AgentArm,
    AgentDisarm,
    Arm,
    ArmReturn,
    Disarm,
    Leave,
    Native,
    Python,
    Start,
)
from pyharness.debugger.stop import PythonStopped, Stopped
from pyharness.model.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Collection

    from pyharness.debugger.action import Request
    from pyharness.debugger.breaking.breakpoint import Breakpoint
    from pyharness.debugger.stop import Event

_PYTHON_COMMANDS: dict[Request, Literal["continue", "next", "stepIn", "stepOut"]] = {
    "continue": "continue",
    "into": "stepIn",
    "into_native": "next",
    "over": "next",
    "out": "stepOut",
    "instruction": "next",
    "into_instruction": "stepIn",
}
_MOST_INLINED = 100
"""Steps through inlined code before a line of it is told: a loop there may be long."""
_INTO = ("into", "into_instruction")
_CAN_WAIT = ("breakpoint", "step")
_INSTRUCTIONS: dict[Request, Literal["nexti", "stepi"]] = {"instruction": "nexti", "into_instruction": "stepi"}


@frozen
class _Step:
    thread: int
    request: Request
    from_python: bool


class Machine:
    """One program under two debuggers.

    ``focus`` is the stop that the client was last told of, ``None`` while the program runs. Stops of other threads that
    come meanwhile wait in line: each is told when the client goes on, before anything else, if its place is still set.
    A step through native code comes to its end first, though: whoever steps through what threads share follows one of
    them. A step that takes long may wait for a thread that waits in line, so it is waited for no longer (`hurry`).
    """

    def __init__(self) -> None:
        self.focus: Stopped | None = None
        self.started = False
        self._entering = False
        self._step: _Step | None = None
        self._armed = False
        self._pending_python: set[int] = set()
        self._agent_armed: set[int] = set()
        """Threads that ``AgentArm`` has armed and that have stayed in native code since."""
        self._outlived: set[int] = set()
        """Threads with a step of debugpy's that nobody waits for any more, and that it could not be told to forget."""
        self._returning = 0
        """The thread whose Python code, which it steps out of, was called by native code of the user's."""
        self._waiting: deque[Stopped] = deque()
        self._passed_inlined = 0
        """How often the step has gone on because it stood in inlined code."""
        self.pausing: Literal["", "python", "native"] = ""
        """Who is to stop, wherever that is, because the client has asked for it; the first stop that comes serves."""
        self._jumping = 0
        """The thread that goes on at another line of Python: debugpy tells its stop there."""
        self.beginning = False
        """What the client has asked for is being begun: a stop that comes before that is done waits in line."""
        self.requests = 0
        """How often the client has gone on."""
        self._hurries = False
        """The step has taken long: stops of other threads wait for its end no more."""

    def ends(self, thread: int) -> bool:
        """Take the end of a thread; whether it was the one that steps: the program runs on, to any stop."""
        if self._step is None or self._step.thread != thread or self.focus is not None:
            return False
        self._step = None
        return True

    @property
    def standing(self) -> set[int]:
        """The threads whose stops are told, or wait in line."""
        return {stop.thread for stop in (*self._waiting, self.focus) if stop}

    def request(self, kind: Request, enabled: Collection[Breakpoint] = ()) -> list[Action]:
        """The client wants to go on; these breakpoints are set now."""
        if not self.started:
            self.started = True
            self._entering = kind != "continue"
            return [Start(stop=self._entering)]
        focus = self.focus
        if focus is None:
            return []
        self.focus = None
        self._passed_inlined = 0
        self.requests += 1
        self._hurries = False
        if kind == "continue":
            self._step = None
        else:
            self._step = _Step(focus.thread, kind, focus.language == "python")
        actions = self._from_python(focus, kind) if focus.language == "python" else self._from_native(focus, kind)
        return [*actions, *self.next_waiting(enabled)]

    def next_waiting(self, enabled: Collection[Breakpoint]) -> list[Action]:
        """Make the next stop in line the focus; a thread at a breakpoint that is not set any more runs on."""
        passed: list[Action] = []
        while self._waiting and self.focus is None and not self._comes_later(self._waiting[0]):
            stop = self._waiting.popleft()
            if stop.breakpoint and stop.breakpoint not in enabled:
                passed.append(Native(stop.thread, "continue"))
            else:
                self.focus = stop
        return passed

    def turn_to(self, thread: int) -> Stopped | None:
        """Make the stop of a thread that waits in line the focus, which waits in its place; ``None`` for no such."""
        other = next((stop for stop in self._waiting if stop.thread == thread), None)
        if other is None or self.focus is None:
            return None
        self._waiting[self._waiting.index(other)] = self.focus
        self.focus = other
        return other

    @property
    def lets_wait(self) -> bool:
        """Whether a stop waits in line for a step's end."""
        return self.focus is None and bool(self._waiting)

    def hurry(self) -> None:
        """Let the stops of other threads wait for the end of the step no longer."""
        self._hurries = True

    def _comes_later(self, stop: Stopped) -> bool:
        """Whether a stop is told only when the native step of another thread has ended."""
        step = self._step
        if step is None or step.from_python or step.thread == stop.thread or self._hurries or self.pausing:
            return False
        return stop.language == "native" and stop.reason in _CAN_WAIT

    def _from_python(self, focus: Stopped, kind: Request) -> list[Action]:
        actions: list[Action] = []
        if kind in {"into", "into_native"}:
            self._armed = True
            actions.append(Arm(focus.thread))
        if kind == "out":
            self._armed = True
            actions.append(ArmReturn(focus.thread))
        self._outlived |= self._pending_python - {focus.thread}  # a step that the agent has armed is not forgotten
        self._outlived.discard(focus.thread)
        self._pending_python.discard(focus.thread)
        if kind != "continue":
            self._pending_python.add(focus.thread)
        return [*actions, Python(focus.thread, _PYTHON_COMMANDS[kind])]

    def _from_native(self, focus: Stopped, kind: Request) -> list[Action]:
        thread = focus.thread
        if kind == "continue":
            return [*self._forget_python_step(thread), Native(thread, "continue")]
        if kind == "out":
            self._pending_python.add(thread)
            self._outlived.discard(thread)
            return [Leave(thread)]
        if kind in _INSTRUCTIONS:
            return [Native(thread, _INSTRUCTIONS[kind])]
        # gdb's step may fall off the end of the user's code, or run a Python callback that never comes back to it.
        step = Native(thread, "next")
        agent = self._arm_once(thread)
        self._pending_python.add(thread)
        self._outlived.discard(thread)
        if kind == "over":
            return [*agent, step]
        self._armed = True
        return [*agent, Arm(thread), step]  # a trap may hold a thread whose GIL the agent needs

    def _arm_once(self, thread: int) -> list[Action]:
        """Arm it where no earlier step has: a call on the thread is slow."""
        if thread in self._agent_armed:
            return []
        self._agent_armed.add(thread)
        return [AgentArm(thread)]

    def leaves_for_native(self, thread: int) -> list[Action]:
        """``Leave`` has found a native caller: an exception may yet take the thread past it, into Python."""
        return self._arm_once(thread)

    def leaves_for_owner(self, thread: int, owner: int, *, is_python: bool) -> None:
        """``Leave`` has found none that called, but another thread that waits: the step ends where that goes on."""
        if self._step is not None:
            self._step = replace(self._step, thread=owner)
        self._pending_python.discard(thread)
        if is_python:
            self._pending_python.add(owner)

    def leaves_for_python(self, thread: int) -> None:
        """``Leave`` has found a caller in Python, and arms debugpy for it in its own way."""
        self._agent_armed.discard(thread)

    def _forget_python_step(self, thread: int) -> list[Action]:
        self._agent_armed.discard(thread)
        if thread not in self._pending_python:
            return []
        self._pending_python.discard(thread)
        return [AgentDisarm(thread)]

    def cannot_disarm(self, thread: int) -> None:
        """``AgentDisarm`` cannot be done: where the step that is armed ends, the thread goes on."""
        self._outlived.add(thread)

    def stays(self, stop: Stopped) -> None:
        """What the client has asked for cannot be done: it still stands where it did."""
        if self.focus is not None and self.focus != stop:
            self._waiting.appendleft(self.focus)
        self.focus, self._step = stop, None
        self._agent_armed.discard(stop.thread)  # or perhaps it is: once more does no harm

    def jumps(self, thread: int) -> None:
        """The client has had the thread go on at another line of its Python code: its stop there comes."""
        self.focus, self._jumping = None, thread

    def has_no_lines(self) -> list[Action]:
        """The step is refused: gdb knows neither lines nor the end of the function. To leave it is the next best."""
        step = self._step
        if step is None or step.request in _INSTRUCTIONS or step.thread not in self._agent_armed:
            return []
        return [Leave(step.thread, pending=True)]

    def returns_to_native(self, thread: int) -> None:
        """``ArmReturn`` has found native code to return to."""
        self._returning, self._armed = thread, True

    def may_return_to_native(self, thread: int) -> bool:
        """Whether a thread takes a step for which ``ArmReturn`` has found no native code, or was not asked yet.

        Code that a step in native code calls back is run through: it returns to where gdb's own step goes on.
        """
        step = self._step
        if step is None or step.thread != thread or step.request == "continue":
            return False
        return self._returning != thread or (step.from_python and step.request != "out")

    def steps_into(self, thread: int) -> bool:
        """Whether a thread takes a step into what its line of Python calls."""
        step = self._step
        return step is not None and step.thread == thread and step.from_python and step.request == "into"

    def release(self) -> list[Action]:
        """The client lets the program go: nothing may be left armed in it."""
        focus, self.focus, self._step = self.focus, None, None
        actions: list[Action] = [Disarm()] if self._armed else []
        if focus and focus.language == "native":
            actions += self._forget_python_step(focus.thread)
        return actions

    def handle(self, event: Event) -> list[Action]:
        """A debugger reports a stop; ``focus`` is set when the client is to be told."""
        step = self._step if self._step and self._step.thread == event.thread else None
        if isinstance(event, PythonStopped):
            self._agent_armed.discard(event.thread)  # debugpy has forgotten it
            return self._python_stopped(event, step)
        if event.reason == "pause":
            told = Stopped(event.thread, "native", "pause")
            return self._tell(told) if self.pausing else [Native(event.thread, "continue")]
        if event.inlined and self._passes_inlined(step):
            again: list[Action] = [Arm(event.thread)] if self._armed else []  # not where it stands: it would stop there
            return [*again, Native(event.thread, "next")]
        if step and event.reason == "stepped" and not (event.in_user_code or step.request in _INSTRUCTIONS):
            return [Leave(event.thread, pending=step.request != "out")]
        if event.reason == "arrived" or event.reason == "stepped":  # noqa: PLR1714  (mypy narrows this one)
            return self._tell(Stopped(event.thread, "native", "step"))
        return self._tell(Stopped(event.thread, "native", event.reason, breakpoint=event.breakpoint))

    def _passes_inlined(self, step: _Step | None) -> bool:
        """Whether to go on to a line of the user's: optimized code has a library's lines among theirs."""
        self._passed_inlined += 1
        return self._passed_inlined <= _MOST_INLINED and not (step and step.request in _INSTRUCTIONS)

    def _python_stopped(self, event: PythonStopped, step: _Step | None) -> list[Action]:
        self._pending_python.discard(event.thread)
        outlived = event.thread in self._outlived
        self._outlived.discard(event.thread)
        if outlived and event.reason == "step":
            return [Python(event.thread, "continue")]
        if event.reason == "pause":
            told = Stopped(event.thread, "python", "pause")
            return self._tell(told) if self.pausing else [Python(event.thread, "continue")]
        if event.reason == "exception":
            return self._tell(Stopped(event.thread, "python", "exception"))
        if self._entering:
            self._entering = False
            return self._tell(Stopped(event.thread, "python", "entry"))
        return self._python_stepped(event, step)

    def _python_stepped(self, event: PythonStopped, step: _Step | None) -> list[Action]:
        """At a breakpoint, at the end of a step, or of a jump."""
        if event.reason in {"step", "goto"} and event.thread == self._jumping:
            self._jumping = 0
            return self._tell(Stopped(event.thread, "python", "goto"))
        if event.reason == "step" and (passes := self._passes(event, step)):
            return passes
        stepped = event.reason != "breakpoint" or (step is not None and not step.from_python)
        if not stepped:
            return self._tell(Stopped(event.thread, "python", "breakpoint"))
        into = step is not None and step.from_python and step.request in {"into", "into_native"}
        return self._tell(Stopped(event.thread, "python", "step", ran_nothing=into))

    def _passes(self, event: PythonStopped, step: _Step | None) -> list[Action]:
        """What to do where a stop of debugpy's is none for the client; empty where it is one."""
        command: Literal["stepOut", "next"]
        if event.called_back and step is not None and step.request not in _INTO:
            # ``AgentArm`` arms the same for every step, as each time costs. Only *into* wants this stop.
            self._returning, command = event.thread, "stepOut"
        elif event.before_nodes and self.steps_into(event.thread):
            command = "next"  # it checks its arguments and makes buffers: nobody steps into a model for that
        elif event.thread == self._returning:
            # debugpy shows the next Python frame as soon as a function returns: the native code has not gone on yet.
            self._returning, command = 0, "next"
        else:
            return []
        self._pending_python.add(event.thread)
        return [Python(event.thread, command)]

    def _tell(self, stop: Stopped) -> list[Action]:
        if self.focus is not None or self.beginning or self._comes_later(stop):
            self._waiting.append(replace(stop, ran_nothing=False))
            return []
        self.focus = stop
        self.pausing = ""
        self._step = None
        self._returning = 0
        if self._armed:
            self._armed = False
            return [Disarm()]
        return []

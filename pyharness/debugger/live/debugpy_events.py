"""What debugpy tells: stops at lines of Python, output, log lines, and that it has left the program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyharness.debugger.breaking.failed_conditions import FailedCondition
from pyharness.debugger.stop import PythonStopped
from pyharness.host.process_state import is_held
from pyharness.model.errors import DebuggerLostError
from pyharness.model.source_map import is_wrapper, map_of
from pyharness.protocol.pydevd import ConditionFailed, PointLogged, Returns, data_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.dapwire.message import Message
    from pyharness.debugger.listener import Listener
    from pyharness.debugger.live.actions import Actions
    from pyharness.debugger.live.lifetime import Lifetime
    from pyharness.debugger.shell import Shell

_AT_FUNCTION = "function breakpoint"
_LEAVING_SECONDS = 5.0
"""How long a program may take to end after debugpy has left it without a word."""
_RUNS_ON = "The program runs on to its next stop."


class DebugpyEvents:
    """Takes one event after the other; ``ends``: whether the program ends within some seconds."""

    def __init__(
        self, shell: Shell, listener: Listener, lifetime: Lifetime, actions: Actions, ends: Callable[[float], bool]
    ) -> None:
        self._shell = shell
        self._listener = listener
        self._lifetime = lifetime
        self._actions = actions
        self._ends = ends
        self._left_while_held = False
        self._returning: set[int] = set()
        """Threads that debugpy shows in the caller of the function that they still return from."""

    def take(self, event: Message | None) -> None:
        """An event; ``None`` for debugpy's end in the program."""
        if event is None:
            self._left()
            return
        kind, body = event["event"], event.get("body") or {}
        if kind == "initialized":
            if self._listener.configure():
                self._shell.python.configured()
        elif kind == "output":
            self.output(body)
        elif kind == "thread" and body.get("reason") == "exited":
            self._thread_ended(self._shell.python.known_thread(body["threadId"]))
        elif kind == "stopped":
            reason = body.get("reason", "")
            if reason == "pause" and self._shell.python.is_forgotten(event):
                return
            thread = self._shell.python.thread_of(body["threadId"])
            known = "breakpoint" if reason == _AT_FUNCTION else reason
            stop = PythonStopped(thread, known, self._called_back(thread), self._is_before_nodes(thread))
            self._see_return(thread)
            self._shell.perform(self._shell.machine.handle(stop))

    def _thread_ended(self, thread: int) -> None:
        """Say it where that thread was to step, which it did to its end: nothing else would be said for long.

        The main thread's end is the program's, unless others run on.
        """
        if thread != self._shell.process.pid and self._shell.machine.ends(thread):
            self._listener.output(f"Thread {thread} has ended, and its step with it. {_RUNS_ON}\n", "important")

    def _left(self) -> None:
        """debugpy is not in the program any more: that is an error, unless the program is over."""
        if self._lifetime.is_another(self._shell.process.pid):
            self._lifetime.becomes_another()
            self._shell.close_gdb()  # with which it stands at its first instruction
        over = self._lifetime.ending or self._is_held() or self._ends(_LEAVING_SECONDS)
        # its word may have come meanwhile, and its end may take longer; or it has stopped once more on its way there
        if not over and not self._lifetime.ending and not self._is_held():
            raise DebuggerLostError("debugpy")

    def _is_held(self) -> bool:
        """Whether gdb keeps the program from its end: then it shows when it goes on whether that comes."""
        self._left_while_held = is_held(self._shell.process.pid)
        return self._left_while_held

    def goes_on(self) -> None:
        """The program runs again: if debugpy has left it while it could not end, it is time to look."""
        if self._left_while_held and self._shell.exit_code is None:
            self._left_while_held = False
            self._left()

    def output(self, body: dict[str, Any]) -> None:
        """debugpy says something, or the harness in the program does through it."""
        text = str(body.get("output", ""))
        match data_in(body.get("data")):
            case Returns(thread):
                self._returning.add(thread)
            case PointLogged(number):
                self._shell.breakpoints.logged(number, text.removesuffix("\n"))
            case ConditionFailed(said, thread, line):
                self._shell.failed_conditions[thread] = FailedCondition(said, line)
            case _ if not body.get("data") and body.get("category") != "telemetry":
                self._listener.output(text, str(body.get("category", "console")))

    def _see_return(self, thread: int) -> None:
        """Have a step that returns from a function go on in the native code of the user's that called that, if any."""
        shell, returns = self._shell, thread in self._returning
        self._returning.discard(thread)
        native = shell.native if returns and shell.machine.may_return_to_native(thread) else None
        if native and native.arm_return(thread, shell.python.stdlib):
            shell.machine.returns_to_native(thread)

    def _called_back(self, thread: int) -> bool:
        """Whether a thread stands in Python code of the user's that was called since the agent armed it."""
        depth = self._actions.depth_before(thread)
        stack = self._shell.python.stack(thread) if depth else []
        return len([frame for frame in stack if not frame.plumbing]) > depth

    def _is_before_nodes(self, thread: int) -> bool:
        """Whether *into* has led a thread into a wrapper of inductor's, and to none of its nodes yet."""
        stack = self._shell.python.stack(thread) if self._shell.machine.steps_into(thread) else []
        if not stack or not stack[0].file or not is_wrapper(stack[0].file):
            return False
        found = map_of(stack[0].file)
        first = min((each.line for each in found.lines), default=0) if found else 0
        return (stack[0].line or 0) < first

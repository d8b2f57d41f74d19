"""One DAP session: a loop that takes what the client and both debuggers say, in the order in which it came."""

from __future__ import annotations

import queue
import sys
import threading
import traceback
from collections import deque
from typing import TYPE_CHECKING, Any

from pyharness.dap.arguments import Arguments
from pyharness.dap.breaking.breakpoints import ClientBreakpoints
from pyharness.dap.breaking.data_breakpoints import DataBreakpoints
from pyharness.dap.cancelling import Cancelling
from pyharness.dap.looking.ahead import LookingAhead
from pyharness.dap.looking.tables import Frames, Texts, Variables
from pyharness.dap.registry import REQUESTS
from pyharness.dapwire.wire import Malformed
from pyharness.debugger.merged_stack import merged_stack
from pyharness.debugger.native.filters import NativeFilters
from pyharness.model.errors import DebuggerLostError, HarnessError, nearest
from pyharness.model.text.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.dap.beginning.debuggee import Debuggee
    from pyharness.dap.beginning.plan import Plan
    from pyharness.dap.beginning.terminal import InTerminal
    from pyharness.dap.connection import Connection
    from pyharness.dapwire.wire import Message
    from pyharness.debugger.action import Request
    from pyharness.debugger.merged_stack import StackFrame
    from pyharness.debugger.python.side import PythonSide
    from pyharness.debugger.shell import Events, Shell
    from pyharness.debugger.stop import Stopped
    from pyharness.model.frames import Frame

_NO_PROGRAM = "No program is being debugged."


class Session:
    """A client, and the program that it debugs; all of it on the thread that calls ``run``."""

    def __init__(
        self, client: Connection, authorized: Callable[[str], bool], door: dict[str, object] | None = None
    ) -> None:
        self.client = client
        self.authorized = authorized
        """Whether a client with this token may start something."""
        self.accepted = False
        """Whether the client may debug: nothing is started or evaluated for it before."""
        self.supports: Message = {}
        """What the client said of itself in ``initialize``."""
        self.debuggee: Debuggee | None = None
        self.door = door or {}
        """What a client's child session needs to reach this server."""
        self.terminal: InTerminal | None = None
        self.restarting = False
        self.goto = "", 0
        """File and line of native code that the client has asked about as a place to go on at."""
        self.plan: Plan | None = None
        """What was launched last, for a restart."""
        self.breakpoints = ClientBreakpoints(self)
        self.native_filters = NativeFilters()
        self._data_breakpoints: DataBreakpoints | None = None
        self.frames = Frames()
        self.variables = Variables()
        self.texts = Texts()
        self.ahead = LookingAhead(self)
        self.over = False
        self.stepped_from: Frame | None = None
        """The Python line that an *into* began at, as far as the client has looked at it."""
        self._going_on: Request | None = None
        """How the request that is being handled lets the program go on."""
        self._responding: list[Callable[[], None]] = []
        self._news: deque[Callable[[], None]] = deque()
        """What the program has come to in this turn, to be told."""
        self._inbox: deque[Message | Malformed | None] = deque()
        self._cancelling = Cancelling(self._interrupt, self._leaves)
        self._answers: dict[int, Callable[[Message], None]] = {}
        self._lock = threading.Lock()
        self._events: Events = queue.SimpleQueue()

    # --- the loop -----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Serve the client until it leaves or its session ends; nothing of it is left behind."""
        self.client.read(self._hear)
        try:
            while not self.over:
                self._turn()
        finally:
            self.release()
            self.client.close()

    def _hear(self, message: Message | Malformed | None) -> None:
        """What the client says, on the thread that reads it: only the end of an expression cannot wait its turn."""
        self._cancelling.hear(message)
        self.put("client", message)

    def _interrupt(self) -> None:
        debuggee = self.debuggee
        if debuggee and not debuggee.shell.immobile:
            debuggee.shell.interrupt()

    def _leaves(self) -> None:
        if debuggee := self.debuggee:
            debuggee.shell.client_leaves()

    def put(self, source: str, item: Any) -> None:
        """Hand something to the loop, from any thread; a ``call`` is called there."""
        with self._lock:
            self._events.put((source, item))

    def fresh_events(self) -> Events:
        """A queue for a new program: what an earlier one still says is nobody's; what the client says is kept."""
        with self._lock:
            old, self._events = self._events, queue.SimpleQueue()
            while not old.empty():
                source, item = old.get()
                if source == "client":
                    self._events.put((source, item))
        return self._events

    def later(self, source: str, item: Any) -> None:
        """Take what came while the shell waited for something else: the client's wishes wait until that is done."""
        if source == "client":
            self._inbox.append(item)
        elif source == "call":
            item()

    def _turn(self) -> None:
        if self._inbox:
            self._on_client(self._inbox.popleft())
        else:
            source, item = self._events.get()
            if source in {"client", "call"}:
                self.later(source, item)
            elif self.debuggee:
                self.guarded(lambda shell: shell.handle(source, item))
        while self._news:
            self._news.popleft()()

    def soon(self, do: Callable[[], None]) -> None:
        """Do this at the end of the turn, when what is being answered was answered."""
        self._news.append(do)

    def guarded(self, do: Callable[[Shell], object]) -> None:
        """Do something with the shell; what goes wrong is told, and the session goes on as far as it can."""
        if self.debuggee is None:
            return
        shell = self.debuggee.shell
        self._told(lambda: do(shell))

    def _told(self, do: Callable[[], object]) -> None:
        """Do it; nobody waits for its answer."""
        try:
            do()
        except HarnessError as error:
            self._tell(error)

    def _tell(self, error: HarnessError) -> None:
        """Say in the client's console what went wrong that is no request's answer."""
        if isinstance(error, DebuggerLostError):
            self._lost(error)
        else:
            self.say(f"{error}\n", important=True)

    def _lost(self, error: DebuggerLostError) -> None:
        """A debugger has died: the program, which is none of its business, is let go."""
        if self.debuggee:
            self.debuggee.detach()
            error.remedy = self.debuggee.shell.fate()
        self.say(f"{error}\n", important=True)
        self.end()

    # --- the client ---------------------------------------------------------------------------------------------------

    def _on_client(self, message: Message | Malformed | None) -> None:
        if message is None:
            self.over = True
        elif isinstance(message, Malformed):
            self.client.refuse(message, message.reason)
        elif message["type"] == "request":
            self._on_request(message)
        elif message["type"] == "response":
            answer = self._answers.pop(message["request_seq"], None)
            if answer:
                answer(message)

    def _on_request(self, message: Message) -> None:
        try:
            with self._cancelling.handling(message):
                body = self._handled(message)
        except DebuggerLostError as error:
            self.client.refuse(message, error.message)
            self._lost(error)
        except HarnessError as error:
            self.client.refuse(message, error.message, error.remedy)
        except Exception as error:  # noqa: BLE001  (one bad request must not end a debugging session)
            print(visible(traceback.format_exc()), file=sys.stderr)
            self.client.refuse(message, f"{type(error).__name__}: {error}", "This is a bug in pyharness.")
        else:
            problem = self._gone_on()
            self.client.respond(message, body)
            if problem:
                self._tell(problem)
        after, self._responding = self._responding, []
        for action in after:
            self._told(action)

    def _gone_on(self) -> HarnessError | None:
        """Let the program go on, if that was asked for: it runs while the client reads the answer. What went wrong."""
        request, self._going_on = self._going_on, None
        try:
            if request:
                self.resume(request)
        except HarnessError as error:
            return error
        return None

    def _handled(self, message: Message) -> Message | None:
        command = message["command"]
        request = REQUESTS.get(command)
        if request is None:
            raise HarnessError(f"There is no request {command!r}.", nearest(command, REQUESTS))
        if request.needs != "client":
            self.require_program()
        if request.needs in {"stop", "change"} and self.require_program().machine.focus is None:
            raise HarnessError(f"{command}: the program runs.", "Pause it, or set a breakpoint.")
        if request.needs == "change" and (immobile := self.require_program().immobile):
            raise HarnessError(immobile)
        given, paths = message.get("arguments") or {}, self.client.paths
        return request.handler(self, Arguments(command, paths.incoming(given) if paths else given))

    def afterwards(self, do: Callable[[], None]) -> None:
        """Do this once the request that is being handled has been answered."""
        self._responding.append(do)

    def ask(self, command: str, arguments: Message, answer: Callable[[Message], None]) -> None:
        """Send a reverse request; ``answer`` takes the response."""
        self._answers[self.client.request(command, arguments)] = answer

    def data_breakpoints(self, shell: Shell) -> DataBreakpoints:
        """The data breakpoints of the program that runs now."""
        if self._data_breakpoints is None or self._data_breakpoints.shell is not shell:
            self._data_breakpoints = DataBreakpoints(shell)
        return self._data_breakpoints

    # --- the program --------------------------------------------------------------------------------------------------

    def require_program(self) -> Shell:
        """The shell of the program; an error where there is none any more."""
        if self.debuggee is None:
            raise HarnessError(_NO_PROGRAM, "Send launch or attach first.")
        if self.debuggee.shell.exit_code is not None:
            raise HarnessError(f"The program has ended (exit code {self.debuggee.shell.exit_code}).", "Start it again.")
        return self.debuggee.shell

    def python(self) -> PythonSide:
        """debugpy; an error where a thread stands in native code, which may keep it from answering."""
        shell = self.require_program()
        if shell.immobile:
            raise HarnessError(shell.immobile)
        if shell.machine.focus and shell.machine.focus.language == "native":
            raise HarnessError(
                "debugpy cannot answer: a thread is stopped in native code.", "Step back to Python first."
            )
        return shell.python

    def focus(self) -> Stopped:
        """The stop that the client was told of."""
        focus = self.require_program().machine.focus
        if focus is None:
            raise HarnessError("The program is running.", "Pause it first.")
        return focus

    def goes_on(self, request: Request) -> None:
        """Go on as soon as the request is handled; keep where an *into* begins: if it ends nowhere, that is told."""
        self._going_on = request
        stack = self.frames.stacks.get(self.focus().thread)
        self.stepped_from = stack[0].frame if stack and request in {"into", "into_native"} else None

    def resume(self, request: Request) -> None:
        """Go on; frames and variables are those of a stop."""
        shell = self.require_program()
        before, stacks = shell.machine.focus, dict(self.frames.stacks)
        self.forget()
        try:
            shell.begin(request)
        finally:
            if before is not None and shell.machine.focus is before:
                self.frames.stacks.update(stacks)  # nothing has moved, and a thread that runs a call cannot be read

    def stack(self, thread: int) -> list[StackFrame]:
        """The merged stack of a thread, read once a stop; empty while the program runs."""
        shell, stacks = self.require_program(), self.frames.stacks
        if shell.machine.focus is None:
            return []
        if thread not in stacks:
            stacks[thread] = merged_stack(shell, thread)
        return stacks[thread]

    def forget(self) -> None:
        """Drop what was looked at: it is of a stop that is over, or has changed."""
        self.frames.clear()
        self.variables.clear()
        self.goto = "", 0
        shell = self.debuggee.shell if self.debuggee else None
        if shell and shell.native and shell.exit_code is None:
            shell.native.forget_variables()

    def say(self, text: str, *, important: bool = False, category: str = "console") -> None:
        """A line in the client's console."""
        self.client.event("output", {"category": "important" if important else category, "output": text})

    # --- what the client is told --------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Let the program begin, once it stands before its first line and the client has configured."""
        debuggee = self.debuggee
        if debuggee and debuggee.configured and debuggee.shell.ready and not debuggee.shell.machine.started:
            debuggee.begins()
            self.guarded(lambda shell: shell.begin("into" if debuggee.stop_on_entry else "continue"))

    def end(self) -> None:
        """The debugging is over; the client may still ask, or restart."""
        self.debuggee = None
        self.close_terminal()
        self.client.event("terminated")

    def release(self) -> None:
        """Leave the program as its client asked for, or as is usual: what was launched ends, what was attached runs."""
        debuggee, self.debuggee = self.debuggee, None
        if debuggee:
            debuggee.release()
        self.close_terminal()

    def close_terminal(self) -> None:
        """The program that was started in a terminal is not waited for, or has ended."""
        if self.terminal:
            self.terminal.close()
            self.terminal = None

"""A program that runs under both debuggers: the machine hears what they and it say, and they do what it answers."""

from __future__ import annotations

import queue
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from pyharness.debugger import machine as m
from pyharness.debugger.actions import Actions, GilBlockedError, GilHeldError
from pyharness.debugger.failed_conditions import FailedCondition
from pyharness.debugger.last_words import last_words, who_logs
from pyharness.debugger.native.ending import EndedError, crash_of
from pyharness.debugger.native.prepared_gdb import PreparedGdb
from pyharness.debugger.native.side import number_of
from pyharness.debugger.op_stops import OpStops
from pyharness.debugger.python.asking import CrashedError, StuckError
from pyharness.debugger.python.dap_client import RequestError
from pyharness.debugger.python.side import PythonSide
from pyharness.debugger.shell import Shell
from pyharness.debugger.starting import processes
from pyharness.debugger.starting.engine_first import EngineFirst
from pyharness.debugger.starting.launch import undebuggable
from pyharness.gdbmi.client import GdbError, GdbLostError
from pyharness.host.process_state import has_ended, program_of
from pyharness.host.state import clear_after
from pyharness.model.conditions import log_message
from pyharness.model.errors import DebuggerLostError, HarnessError
from pyharness.model.evaluation import EVAL_TIMEOUT
from pyharness.model.transcript import Ended as ProgramEnded
from pyharness.model.user_code import UserCode
from pyharness.protocol.agent import AskDebugpy, RefusedError
from pyharness.protocol.channel import (
    AddedLibrary,
    Child,
    Ended,
    Ends,
    Failed,
    Generated,
    Go,
    Hello,
    Library,
    Message,
    OpReached,
    Ready,
    Unfiled,
    Welcome,
)
from pyharness.protocol.codec import MalformedError
from pyharness.protocol.mi import Logged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyharness.debugger.breakpoint import Breakpoint
    from pyharness.debugger.listener import Listener
    from pyharness.debugger.native.side import NativeSide
    from pyharness.debugger.shell import Events
    from pyharness.debugger.starting.target import Target
    from pyharness.gdbmi.records import Notice
    from pyharness.protocol.agent import Request
    from pyharness.protocol.mi import Armed
    from pyharness.protocol.question import Answer

_AT_FUNCTION = "function breakpoint"
_NO_BOUNDS = "Cannot find bounds of current function"
"""How gdb refuses to step in a function without lines whose end no symbol tells."""
_PYTHON_PAUSES = 0.25
"""Seconds in which Python code that runs comes to a line."""
_MAX_STOPS = 1000
"""Stops of other threads that a question waits for."""
_STOP_SECONDS = 0.1
_DYING_SECONDS = 0.5
"""How much later than its program's end gdb's own may be heard of."""
_LEAVING_SECONDS = 5.0
"""How long a program may take to end after debugpy has left it without a word."""
_NOT_BEGUN = "The interpreter has not begun the program yet:"
_NOT_HEARD = "The program has not answered yet, as where native code keeps the GIL:"


class LiveShell(Shell):
    """Both debuggers, the program and the machine between them; all of it on the caller's thread, in ``pump``."""

    def __init__(
        self,
        command: Target,
        included: Sequence[str],
        progress: Callable[[str], None],
        *,
        crashes: bool = False,
        eval_timeout: float = EVAL_TIMEOUT,
        events: Events | None = None,
        listener: Listener | None = None,
    ) -> None:
        command.check()
        heard: Events = events or queue.SimpleQueue()
        python = PythonSide(lambda event: heard.put(("debugpy", event)))
        super().__init__(m.Machine(), python, heard, listener)
        self._crashes = crashes
        self._user_code = UserCode.of(included)
        self._progress = progress
        self._libraries: list[str] = []
        self._told_once: set[str] = set()
        self._gdb = PreparedGdb(self._hear_gdb, self._user_code)
        self._ending = False
        """The program has said that it ends: what leaves it from then on is not lost, however long the end takes."""
        self._program, self._replaced = "", False
        """Which program the process runs, and whether it has become another one."""
        self._late = _NOT_BEGUN if command.ours else _NOT_HEARD
        self._actions = Actions(self)
        python.deliver = self._deliver
        python.asking.seconds = eval_timeout
        engine = EngineFirst(progress, lambda text: self._listener.output(f"{text}\n", "important"))
        self._executable, added = "", command.env
        self._op_stops = OpStops(self, lambda: engine.have(self._executable, added))
        self.breakpoints.tell_ops = self._op_stops.tell
        try:
            self.process = command.start(
                lambda message: heard.put(("program", message)), lambda code: heard.put(("exit", code))
            )
        except BaseException:
            python.close()
            raise
        self.breakpoints.root = self.process.surroundings.root

    # --- what comes in ------------------------------------------------------------------------------------------------

    def _hear_gdb(self, notice: Notice | None) -> None:
        """Take a notice of gdb's on the thread that reads it.

        Whoever waits for an expression of Python's waits for its thread: one that crashed in it has ended it, and one
        that stopped in it goes on.
        """
        focus, asking = self.machine.focus, self.python.asking
        if notice and focus and self.native and self.native.thread_of(notice) == focus.thread:
            if crash := crash_of(notice):
                asking.crashed(crash)
            elif asking.runs:
                self.native.pass_by(notice)
                return
        self._events.put(("gdb", notice))

    def _take(self, source: str, item: Any) -> bool:
        match source:
            case "program":
                self._on_program(item)
            case "debugpy":
                self._on_debugpy(item)
            case "gdb":
                self._on_gdb(item)
            case "exit":
                self._exited(item)
            case "pause":
                self._pause_native(item)
            case "noted":
                self.process.answer(Go(), item)
            case _:
                return False
        return True

    def _exited(self, code: int, told: Sequence[tuple[str, Any]] = ()) -> None:
        """Note the program's end, of which a person hears after its log lines; ``told`` came before."""
        logs = who_logs(self.breakpoints.enabled)
        logs -= {name for name, side in (("gdb", self.native), ("debugpy", self.python)) if not (side and side.alive)}
        for source, item in last_words(self._events, told, logs):
            if source == "gdb":
                self._on_printed(item)
            elif item["event"] == "output":
                self._on_output(item.get("body") or {})
        self.exit_code = code
        self.breakpoints.left_unseen = code >= 0 and (self._replaced or not self._ending)
        self._listener.ended(code)

    @contextmanager
    def excused(self) -> Iterator[None]:
        """What fails because the program has just ended is no failure; ``exit_code`` is set then."""
        try:
            yield
        except DebuggerLostError:
            self.lost = True
            raise
        except (RequestError, StuckError, CrashedError, EndedError):  # debugpy has answered, or is still connected
            raise
        except HarnessError:
            if not self._ends():
                raise

    def _on_program(self, message: Message[Any]) -> None:
        """The program says something; ``Ready`` is answered later, by the first request of the client's."""
        match message:
            case Hello():
                self._executable, self._program = message.executable, program_of(self.process.pid)
                self.lack = message.lack
                self._gdb.begin(agent=message.agent, guarded=message.guard)
                link, pid = self.process.debugpy(message), self.process.pid
                package = f"{self.process.packages['pyharness']}/pyharness"
                self.python.connect(link, pid, package, self._user_code, message.stdlib)
                self.python.number_of = self.process.surroundings.thread
                children = self.process.children
                door = children.told if children else None
                self.process.answer(
                    Welcome(self.process.packages, self.python.asking.seconds, self._user_code.patterns, door), message
                )
            case Ready():
                self.ready, self.asks_to_start = True, message
                self._listener.ready()
            case Child():
                self._listener.child(message)
            case Failed(error):
                raise undebuggable(error)
            case OpReached():
                self.process.answer(
                    Go(self._op_stops.announced(message, self.process.surroundings.thread(message.thread))), message
                )
            case Ends():
                self._ending = True
            case _:
                self._noted(message)

    def _noted(self, message: Message[Any]) -> None:
        try:
            self._note(message)
        except HarnessError:  # is told first; where the session goes on, the program does
            self._events.put(("noted", message))
            raise
        self.process.answer(Go(), message)

    def _note(self, message: Message[Any]) -> None:
        """Take what the program tells; it waits until that is done."""
        match message:
            case Ended():
                self._ending = True
                self.breakpoints.ended = message
            case Unfiled(why):
                self.breakpoints.unfiled = why
            case Generated(file):
                self.breakpoints.generated(file)
            case Library(path):
                self._on_library(path)
            case AddedLibrary():
                self._watch_for_crashes()

    def _on_library(self, path: str) -> None:
        self._libraries.append(path)
        if self.native:
            self.native.load_symbols()
        elif self.breakpoints.wants_native or self._actions.wants_native:
            self._attach_to_stop()
        else:
            self._watch_for_crashes()
        if self.native:
            self._read_library(self.native)

    def _attach_to_stop(self) -> None:
        """gdb is needed for a place or a step in native code; without it each place is refused."""
        try:
            self.attach()
        except DebuggerLostError:
            raise
        except HarnessError as error:
            self._actions.forgets_native()
            self.breakpoints.refuse_native(error)
            raise

    def _read_library(self, native: NativeSide) -> None:
        """Stop in a library whose symbols gdb has read, where that was asked for before."""
        self.breakpoints.bind_native(native)
        self._listener.libraries(native)
        self._actions.arm_again(native)

    def _watch_for_crashes(self) -> None:
        if self.native or not self._crashes:
            return
        try:
            self.attach()
        except HarnessError as error:  # nobody asked for gdb: the Python half needs none
            self._crashes = False
            self._progress(f"a crash will not be stopped at: {error.message}")

    def _on_debugpy(self, event: dict[str, Any] | None) -> None:
        if event is None:
            if self._runs_another_program():
                self._ending = self._replaced = True
                self.close_gdb()  # with which it stands at its first instruction
            over = self._ending or self._ends(_LEAVING_SECONDS)
            if not over and not self._ending:  # its word may have come meanwhile, and its end may take longer
                raise DebuggerLostError("debugpy")
            return
        kind, body = event["event"], event.get("body") or {}
        if kind == "initialized":
            if self._listener.configure():
                self.python.configured()
        elif kind == "output":
            self._on_output(body)
        elif kind == "stopped":
            thread, reason = self.python.thread_of(body["threadId"]), body.get("reason", "")
            known = "breakpoint" if reason == _AT_FUNCTION else reason
            self.perform(self.machine.handle(m.PythonStopped(thread, known, self._called_back(thread))))

    def _runs_another_program(self) -> bool:
        """Whether the process has become another program (``exec`` by native code), in which nobody debugs."""
        now = program_of(self.process.pid)
        return not self._ending and bool(self._program and now) and now != self._program

    def _on_output(self, body: dict[str, Any]) -> None:
        """debugpy says something; its data are ours (``debuggee/pydevd/conditions.py``)."""
        data, text = body.get("data"), str(body.get("output", ""))
        if isinstance(data, dict) and "log" in data:
            self._log(int(data["log"]), text.removesuffix("\n"))
        elif data:
            self.failed_conditions |= FailedCondition.of_python(data)
        elif body.get("category") != "telemetry":
            self._listener.output(text, str(body.get("category", "console")))

    def _log(self, number: int, text: str) -> None:
        point = next((each for each in self.breakpoints.enabled if each.number == number), None)
        if point:  # it may have been removed since
            self._listener.logged(point, text)

    def _called_back(self, thread: int) -> bool:
        """Whether a thread stands in Python code of the user's that was called since the agent armed it."""
        depth = self._actions.depth_before(thread)
        stack = self.python.stack(thread) if depth else []
        return len([frame for frame in stack if not frame.plumbing]) > depth

    def _on_gdb(self, notice: Notice | None) -> None:
        if self.native is None or not self.native.pid:  # detached
            return
        if notice is None:  # gdb stays when the program ends
            raise GdbLostError("gdb")
        if notice.kind == "refused":
            self._on_refused(str(notice.values.get("msg", "gdb refused to let the program run.")))
        self._on_printed(notice)
        if notice.kind != "stopped":
            return
        if self.native.calls.owed:
            self.native.calls.look()
        if "thread-id" in notice.values:
            self._on_native_stop(self.native, notice)

    def _on_printed(self, notice: Notice) -> None:
        if notice.kind == "console" and (said := Logged.in_line(str(notice.values["text"]))):
            self._log(said.number, said.text)

    def _on_refused(self, why: str) -> None:
        leave = self.machine.has_no_lines() if why == _NO_BOUNDS else []
        if not leave:
            raise GdbError(why)
        self.perform(leave)

    def _on_native_stop(self, native: NativeSide, notice: Notice) -> None:
        thread = native.lwp_of(str(notice.values["thread-id"]))
        if native.loads and number_of(notice) == native.loads:
            native.load_symbols()
            self._read_library(native)
            native.resume(thread)
            return
        reason = native.reason_of(notice, thread, self._is_users)
        if reason is None:
            return
        hit = self._hit(notice, thread) if reason == "breakpoint" else None
        if hit and (hit.log or not hit.is_set):  # it was removed while this thread came to it
            if hit.is_set:
                self._listener.logged(hit, self._message(native, hit, thread))
            native.resume(thread)
            return
        if problem := native.condition_problem(notice, thread):
            self.failed_conditions[thread] = FailedCondition.of_native(hit, problem)
        if reason == "signal":
            self.signal = f"{notice.values.get('signal-name')}: {notice.values.get('signal-meaning')}"
        standing = native.standing(notice, thread) if reason in {"stepped", "arrived"} else "own"
        stop = m.NativeStopped(thread, reason, standing != "other", hit, inlined=standing == "inlined")
        self.perform(self.machine.handle(stop))

    def _is_users(self, number: int) -> bool:
        """Whether a breakpoint of gdb's is one of the user's, or stops for one."""
        return number in self.breakpoints.of_number or self._op_stops.is_trap(number)

    def _hit(self, notice: Notice, thread: int) -> Breakpoint | None:
        """The breakpoint that a thread has hit; ``None`` for one that the program has of its own."""
        number = number_of(notice)
        return self.breakpoints.of_number.get(number) or self._op_stops.at_trap(thread)

    def _message(self, native: NativeSide, point: Breakpoint, thread: int) -> str:
        """What a log point at an op prints; gdb makes that of any other native one itself."""
        texts, values = log_message.parts(point.log)
        shown = [self._value(native, thread, value) for value in values]
        text = texts[0] + "".join(value + text for value, text in zip(shown, texts[1:], strict=True))
        return log_message.shortened(text)

    def _value(self, native: NativeSide, thread: int, expression: str) -> str:
        try:
            return native.evaluate(thread, expression.strip())
        except DebuggerLostError:
            raise
        except HarnessError as error:
            return f"<{error.message}>"

    def _ends(self, seconds: float = 1.0) -> bool:
        """Whether the program is over: a debugger that ends because of that is not lost.

        What the debuggers tell meanwhile is for later: a program that goes on may have stopped.
        """
        told: list[tuple[str, Any]] = []
        try:
            while True:
                source, item = self._events.get(timeout=seconds)
                if source == "exit":
                    self._exited(item, told)
                    return True
                if source == "program":  # it waits for the answer before it can end
                    self._on_program(item)
                elif source in {"debugpy", "gdb", "noted"}:
                    told.append((source, item))
                elif source != "left":
                    self._listener.other(source, item)
        except queue.Empty:
            for event in told:
                self._events.put(event)
            return False

    def tell_late(self) -> None:
        """Tell what is waited for, where the program does not begin for long."""
        if not self._executable:
            self._tell_once(f"{self._late} pyharness waits for it.", "important")

    def _tell_once(self, text: str, category: str = "console") -> None:
        """Tell what holds at each stop in a library at the first."""
        if text not in self._told_once:
            self._told_once.add(text)
            self._listener.output(f"{text}\n", category)

    # --- what goes out ------------------------------------------------------------------------------------------------

    def _deliver(self, command: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Send debugpy what changes breakpoints; in time even where a native stop keeps the GIL from its threads.

        Returns its answer, or ``{}`` where that cannot be waited for.
        """
        focus = self.machine.focus
        if focus is None or focus.language == "python" or self.native is None:
            return self.python.request_in_time(command, arguments)
        crashed = focus.reason == "signal"  # nothing is called on its thread
        if crashed or not self.ask_agent(focus.thread, AskDebugpy(command, arguments)):
            self.python.post(command, arguments)
        return {}

    def perform(self, actions: list[m.Action]) -> None:
        """Do what the machine says, in its order."""
        if actions:
            self._actions.perform(actions, has_libraries=bool(self._libraries))

    def catch_up(self) -> None:
        """Handle what came while the program stood; one that gdb held ends by itself only where gdb has died."""
        stood = self.machine.focus
        super().catch_up()
        held = self.native if stood is not None and stood.language == "native" else None
        with self.excused():
            if held and self.exit_code is not None and held.ends(_DYING_SECONDS):
                raise GdbLostError("gdb")

    @property
    def armed(self) -> Armed:
        """What the last *into* armed."""
        return self._actions.armed

    def ask_agent(self, thread: int, request: Request[Answer]) -> Answer | None:
        """Ask the agent on a stopped thread, once every other thread that ran into a trap of ours has passed it.

        ``None`` where the program has no agent, or none any more.
        """
        native = self.attach()
        if native.agent is None:
            return None
        for _ in range(_MAX_STOPS):
            reply = native.ask_agent(thread, request)
            if reply.is_gone:
                return None
            if not reply.later:
                return _answer(request, reply.answer)
            if reply.is_blocked:
                raise GilBlockedError(reply.holder)
            if reply.holder in self.machine.standing:
                break
            with suppress(queue.Empty):
                self.handle(*self._events.get(timeout=_STOP_SECONDS))
        raise GilHeldError

    @property
    def is_ending(self) -> bool:
        """Whether the program is at its end, as far as it has said so, or beyond it."""
        return super().is_ending or self._ending or has_ended(self.process.pid)

    def pause(self, thread: int) -> None:
        """Stop the program: debugpy stops Python code at its next line; where none comes soon, gdb stops the thread."""
        self.python.post("pause", {"threadId": "*"})
        self.machine.pausing = True
        native = threading.Timer(_PYTHON_PAUSES, self._events.put, (("pause", thread),))
        native.daemon = True
        native.start()

    def _pause_native(self, thread: int) -> None:
        if self.machine.pausing and self.exit_code is None:
            self.python.post("continue", {"threadId": "*"})  # forgets the pause that has not come about
            known = thread in self.tasks
            self.attach().pause(thread if known else self.process.pid)

    def jump(self, thread: int, target: int) -> None:
        """Have a thread that stands in Python code go on at a target of debugpy's; its stop there is told."""
        self.python.request_of(thread, "goto", {"targetId": target})  # refused, the program stands as it did
        self.machine.jumps(thread)

    # --- gdb ----------------------------------------------------------------------------------------------------------

    def attach(self) -> NativeSide:
        """gdb, attached to the program with the user's symbols read."""
        if self.native is None:
            self._progress("attaching gdb")
            prepared = self._gdb.take()
            self.held = True
            prepared.ending.seconds = self.python.asking.seconds
            prepared.on_interrupt = self.interrupt
            prepared.on_note = self._tell_once
            prepared.attach(self.process.pid)
            self.native = prepared
            prepared.load_symbols()
            self._listener.libraries(prepared)
        return self.native

    @property
    def loaded_user_libraries(self) -> bool:
        """Whether there is native code of the user's to look into."""
        return bool(self._libraries)

    @property
    def tasks(self) -> dict[int, str]:
        """The threads of the program: LWP → the kernel's name."""
        return processes.tasks(self.process.pid)

    # --- the end ------------------------------------------------------------------------------------------------------

    def let_go(self) -> None:
        """Take everything out of the program that could stop it, and let it run without a debugger."""
        with suppress(HarnessError):  # a debugger that is gone holds nothing any more
            self.perform(self.machine.release())
        for each in self.breakpoints.enabled:
            with suppress(HarnessError):
                self.breakpoints.remove(each, self.native)
        self.close_gdb()
        self.python.disconnect()
        self.process.let_go()

    def fate(self) -> str:
        """What became of the program that a debugger has left, once it was let go."""
        if self.exit_code is not None or self._ends():
            ended = str(ProgramEnded(self.exit_code))
            return f"{ended[0].upper()}{ended[1:]}."
        if self.native and self.native.calls_unguarded:
            return (
                "The program was let go and runs, but gdb was evaluating an expression in it: it will crash when that"
                " is done, because pyharness's native half, which would guard it, is not built for its Python."
            )
        return "The program was let go and runs on without a debugger."

    def kill(self, ended: Callable[[], None] = lambda: None) -> None:
        """End the program, then the debuggers: a traced program is gone only when its tracer knows.

        ``ended`` is called in between.
        """
        self.process.end(at_once=self.held)
        ended()
        self.close(let_go=False)
        self.exit_code = self.process.wait()

    def close(self, *, let_go: bool = True) -> None:
        """Give back everything; a program that still runs runs on."""
        self.close_gdb(let_go=let_go)
        self.python.close()
        self.process.close()
        if has_ended(self.process.pid):
            clear_after(self.process.pid, self.breakpoints.generated_files)

    def close_gdb(self, *, let_go: bool = True) -> None:
        """Detach gdb and end it, be it attached, on its way there or never needed."""
        native = self.native or self._gdb.unused()
        if native:
            native.close(let_go=let_go)


def _answer(request: Request[Answer], said: Any) -> Answer:
    try:
        return request.answer_in(said)
    except (RefusedError, MalformedError) as error:
        raise HarnessError(f"The program refused {request.tag!r}: {error}") from error

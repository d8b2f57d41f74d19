"""The native half: one gdb, attached to the program, in non-stop mode."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from pyharness.debugger.interrupts import passed_to
from pyharness.debugger.native.callers import NativeCallers
from pyharness.debugger.native.calls import CallRunsError, NativeCalls
from pyharness.debugger.native.ending import CALL_DROPPED, PYTHON_LOST, EndedError, NativeEnding, crash_of, crash_told
from pyharness.debugger.python.asking import GRACE, StuckError
from pyharness.gdbmi.client import GdbBusyError, GdbClient, GdbError, GdbLostError
from pyharness.gdbmi.records import Notice, quote
from pyharness.host.process_state import has_ended
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.evaluation import LEVELS
from pyharness.model.glue import glue_family
from pyharness.protocol import mi
from pyharness.protocol.agent import Evaluate
from pyharness.protocol.codec import MalformedError
from pyharness.protocol.mi.command import Running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pyharness.debugger.machine import NativeReason
    from pyharness.gdbmi.records import Value
    from pyharness.model.frames import Frame
    from pyharness.model.user_code import UserCode
    from pyharness.protocol.agent import Doorway, Request

LOADER = Path(__file__).parents[2] / "ingdb" / "load.py"
_SETTINGS = (
    "mi-async on",
    "non-stop on",
    "pagination off",
    "confirm off",
    "style enabled off",  # gdb 18 colours its errors for MI, too
    "breakpoint pending off",
    "unwindonsignal on",  # calls of the agent
)
_STEP_ENDS = {"end-stepping-range", "function-finished", "location-reached"}
_SETTLE_SECONDS = 2.0
_Command: TypeAlias = Literal["continue", "next", "nexti", "stepi", "finish"]
_STEPS: dict[_Command, str] = {
    "continue": "-exec-continue",
    "next": "-exec-next",
    "nexti": "-exec-next-instruction",
    "stepi": "-exec-step-instruction",
    "finish": "-exec-finish",
}
_WATCHED = ("wpt", "hw-rwpt", "hw-awpt")
"""What MI calls a watchpoint in a stop: for writes, for reads, for both."""
FATAL_SIGNALS = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT")

Answer = TypeVar("Answer")
Standing = Literal["own", "inlined", "other"]
"""In the user's code, in a library's that is inlined into theirs, elsewhere."""


class NativeSide:
    """What the core asks of gdb, in terms of kernel threads."""

    def __init__(
        self, on_notice: Callable[[Notice | None], None], *, agent: Doorway | None, guarded: bool, user_code: UserCode
    ) -> None:
        self._on_notice = on_notice
        self._settling: queue.SimpleQueue[Notice | None] | None = None
        self.thread_ids: dict[str, int] = {}
        """gdb's thread number (as MI writes it) → LWP."""
        self._called = 0
        """The thread on which gdb calls a function: a stop of it is one of the call; then it stands as before."""
        self._stop_in_call: Notice | None = None
        self._gdb = GdbClient(self._forward, **user_code.environment)
        self._user_code = user_code
        self.agent = agent
        """Where the program's agent is asked, ``None`` where it has none."""
        self._guarded = guarded
        self._armed_thread = 0
        self._passing: set[int] = set()
        """Threads that run one instruction past a trap that is not for them."""
        self._sent_traps: set[int] = set()
        """Threads that stand because a SIGTRAP was sent to them, which they get when they go on."""
        self._given_traps: set[int] = set()
        """Threads that went on with one: gdb does not say why such a step ends."""
        self._stepping: set[int] = set()
        """Threads that gdb was last asked to step, not to let run."""
        self._handlers: frozenset[int] = frozenset()
        """gdb's numbers of what stops a step where an exception is caught; empty where nothing is armed."""
        self._finishing: set[int] = set()
        """Threads on their way out of a frame: gdb gives no reason for that stop where the frame has no symbol."""
        self._lost_python: dict[int, tuple[str, str]] = {}
        """Threads in whose Python a call crashed → why nothing of it can be asked any more, and what to do."""
        self._condition_crashes: dict[int, str] = {}
        """Threads that stand in the midst of a breakpoint's condition → what a signal did to that."""
        self._interrupted: set[int] = set()
        """Threads that are to be told as paused."""
        self.loads = 0
        """gdb's number of the stop where native code has loaded a library."""
        self.reason_of_number: dict[int, NativeReason] = {}
        """gdb's number of a watchpoint or an exception's breakpoint → what a stop at it is."""
        self.callers = NativeCallers()
        """Who called the code of stopped threads, and what was returned to them."""
        self._looked_at = False
        """Variables were handed out since they were last forgotten."""
        self.ending = NativeEnding()
        """What ends C++ expressions."""
        self.calls = NativeCalls(self)
        """Calls that gdb has given up."""
        self.on_interrupt: Callable[[], None] = lambda: None
        """Ends what runs in the program for an expression, in either language."""
        self.on_note: Callable[[str], None] = lambda _text: None
        """Takes what is to be known of the library that a thread stands in."""
        self.calls_unguarded = False
        """gdb died while it was asked for what may call a function of the program, which has no guard."""
        self.pid = 0

    @property
    def alive(self) -> bool:
        """Whether gdb still answers."""
        return self._gdb.alive

    def ends(self, seconds: float) -> bool:
        """Whether gdb has ended, or does so within that time."""
        return self._gdb.ends(seconds)

    @property
    def gdb_pid(self) -> int:
        """Process id of gdb."""
        return self._gdb.pid

    @property
    def transcript(self) -> list[str]:
        """What was said on the MI channel."""
        return list(self._gdb.transcript)

    def prepare(self) -> None:
        """Load our commands; done early, while the program still imports."""
        for setting in _SETTINGS:
            self._gdb.command(f"-gdb-set {setting}")
        self._gdb.command("-gdb-set print frame-arguments none")  # a stop would read every tensor it is given
        # A stop would show its line on a console that nobody reads, and gdb opens what the library names as its source
        # whatever that is: it would wait at a pipe for ever.
        self._gdb.command("-gdb-set print frame-info location-and-address")
        self._gdb.console(f"source {LOADER}")
        self._gdb.console("python from pyharness.ingdb.mi import alone, commands; commands.register()")
        self._gdb.console(f"python alone.watch({os.getpid()}, guarded={self._guarded})")
        # A debugger must not change how a program behaves under signals: all go straight on but the fatal ones.
        self._gdb.console("handle all nostop noprint pass")
        self._gdb.console("handle SIGINT nostop noprint pass")  # "all" leaves it to Ctrl-C, which gdb does not get
        self._gdb.console(f"handle {' '.join(FATAL_SIGNALS)} stop print pass")

    def attach(self, pid: int) -> None:
        """Attach and let all threads run on."""
        self.pid = pid
        self._gdb.target_is_gone = lambda: has_ended(pid)
        self._settling = queue.SimpleQueue()
        try:
            self.ask(mi.Attach(pid, self.agent))
        except GdbError as error:
            message, _, remedy = error.message.partition("\n")
            raise HarnessError(message, remedy) from error
        self._settle()
        self.loads = self.ask(mi.WatchLoads())
        self._gdb.command("-exec-continue --all")

    def _settle(self) -> None:
        """Wait until every thread has reported the stop of the attach.

        In non-stop mode these reports come one by one after the attach. One that came after a thread was resumed would
        look like a stop of its own.
        """
        settling = self._settling
        if settling is None:
            return
        self.refresh_threads()
        missing = set(self.thread_ids)
        while missing:
            try:
                notice = settling.get(timeout=_SETTLE_SECONDS)
            except queue.Empty:
                break  # a thread that ended meanwhile reports nothing
            if notice is None:
                break
            missing.discard(str(notice.values.get("thread-id", "")))
        self._settling = None

    def stack_of_running(self, thread: int) -> tuple[Frame, ...]:
        """The ``stack`` of a thread that gdb does not hold (debugpy does); empty when it cannot be held."""
        return self._held(thread, lambda: self.stack(thread)) or ()

    def arm_return(self, thread: int, stdlib: str) -> bool:
        """Stop where native code of the user's goes on, if it called the Python function that debugpy holds."""
        return bool(self._held(thread, lambda: self.ask(mi.ArmReturn(thread, stdlib))))

    def _held(self, thread: int, ask: Callable[[], Answer]) -> Answer | None:
        """The answer about a running thread, which is held meanwhile; ``None`` when it cannot be held in time."""
        held = queue.SimpleQueue[Notice | None]()
        self._settling = held
        others: list[Notice | None] = []
        try:
            self.interrupt(thread)
            while (notice := held.get(timeout=_SETTLE_SECONDS)) is not None:
                if self.lwp_of(str(notice.values.get("thread-id", ""))) == thread:
                    return ask()
                others.append(notice)
        except queue.Empty:
            pass
        finally:
            self._settling = None
            with contextlib.suppress(HarnessError):
                self.resume(thread)
            for other in others:
                self._on_notice(other)
        return None

    def _forward(self, notice: Notice | None) -> None:
        if notice is not None and notice.kind == "console" and mi.Logged.in_line(str(notice.values["text"])) is None:
            return
        if self._called and self.thread_of(notice) == self._called:
            self._stop_in_call = notice
            return
        settling = self._settling
        if settling is not None and (notice is None or notice.kind == "stopped"):
            settling.put(notice)
        if settling is None or notice is None:
            self._on_notice(notice)

    def thread_of(self, notice: Notice | None) -> int:
        """The LWP of a thread that gdb tells to have stopped, from any thread; 0 where it is not known yet."""
        if notice is None or notice.kind != "stopped":
            return 0
        return self.thread_ids.get(str(notice.values.get("thread-id")), 0)

    def pass_by(self, stop: Notice) -> None:
        """Let a thread go on that has stopped where nobody looks; from any thread."""
        self._gdb.start(f"-exec-continue --thread {stop.values['thread-id']}")

    def refresh_threads(self) -> None:
        """Read which LWP each of gdb's threads is."""
        self.thread_ids = self.ask(mi.Threads())

    def lwp_of(self, number: str) -> int:
        """The LWP of gdb's thread ``number``."""
        if number not in self.thread_ids:
            self.refresh_threads()
        return self.thread_ids.get(number, 0)

    def load_symbols(self) -> None:
        """Read the symbols of the user's libraries that were loaded since."""
        self.ask(mi.LoadSymbols())

    def delete(self, numbers: Iterable[int]) -> None:
        """Delete breakpoints by number."""
        if found := tuple(numbers):
            self.ask(mi.Delete(found))

    def arm(self, thread: int) -> mi.Armed:
        """Break at all of the user's functions on ``thread``."""
        self._armed_thread = thread
        return self.ask(mi.Arm(thread, guarded=self._guarded))

    def disarm(self) -> None:
        """Undo ``arm``."""
        self._armed_thread = 0
        self.ask(mi.Disarm())

    def reason_of(self, notice: Notice, thread: int, is_users: Callable[[int], bool]) -> NativeReason | None:
        """What a ``*stopped`` record means for the machine; ``None`` for one that means nothing to it."""
        if thread in self._passing:
            self._passing.discard(thread)
            self.ask(mi.PassTraps(again=bool(self._armed_thread)))
            self.resume(thread)
            return None
        reason = str(notice.values.get("reason", ""))
        finishing = self._finishing & {thread}
        self._finishing.discard(thread)
        self.callers.stopped(thread, notice)
        if known := self.reason_of_number.get(number_of(notice)):
            return known
        if number_of(notice) in self._handlers:
            self._go_on(thread, "finish")  # into the function that catches
            return None
        if reason == "breakpoint-hit":
            return "breakpoint" if is_users(number_of(notice)) else "arrived"
        if reason in _STEP_ENDS or (not reason and thread in finishing | (self._given_traps & self._stepping)):
            return "stepped"
        return self._signal(notice, thread) if reason == "signal-received" else None

    def condition_problem(self, notice: Notice, thread: int) -> str:
        """Why the condition of a breakpoint could not be tested, at which a thread stops; empty where it could."""
        crash = self._condition_crashes.pop(thread, "")
        error = str(notice.values.get("condition-error", ""))
        crash = crash or crash_told(error)
        return f"what it calls {crash}" if crash else error

    def _signal(self, notice: Notice, thread: int) -> NativeReason | None:
        name = str(notice.values.get("signal-name"))
        if name == "0" and thread in self._interrupted:
            self._interrupted.discard(thread)
            return "pause"
        if name == "SIGTRAP":
            return self._trap(thread)
        if name not in {"0", "SIGSTOP"} and self.ask(mi.IsOfCall(thread)):  # the breakpoint's stop comes next
            self._condition_crashes[thread] = crash_of(notice)
            return None
        return None if name in {"0", "SIGSTOP"} else "signal"

    def _trap(self, thread: int) -> NativeReason | None:
        """A trap that ``arm`` planted, for its thread; another thread passes it, one instruction while it is lifted."""
        if thread == self._armed_thread:
            hit = self.ask(mi.Trap(thread, lift=False))
            if hit == "beginning":
                self.resume(thread)
                return None
            return "arrived" if hit == "trap" else self._own_trap(thread)
        if self.ask(mi.Trap(thread, lift=True)) == "none":
            return self._own_trap(thread)
        if not self._armed_thread:  # it is lifted since
            self.resume(thread)
            return None
        self._passing.add(thread)
        self._resume("-exec-step-instruction", thread)
        return None

    def _own_trap(self, thread: int) -> NativeReason | None:
        """No trap of ours: one that was sent is passed on, as every signal; a step that it came to goes on after it."""
        if not self.ask(mi.IsSentTrap(thread)):
            return "signal"
        self._sent_traps.add(thread)
        if thread in self._stepping:
            return "stepped"
        self.resume(thread)
        return None

    def where(self, thread: int) -> mi.Location:
        """Where a stopped thread stands."""
        return self.ask(mi.Where(thread))

    def standing(self, notice: Notice, thread: int) -> Standing:
        """In whose code a thread stopped; gdb mostly says so in the ``*stopped`` record itself."""
        frame = notice.values.get("frame")
        file = frame.get("fullname") if isinstance(frame, dict) else None
        if isinstance(file, str) and self._user_code.has_source(file):
            return "other" if isinstance(frame, dict) and glue_family(str(frame.get("func"))) else "own"
        if isinstance(frame, dict) and not file:
            return "other"
        found = self.where(thread)
        return "own" if found.user else "inlined" if found.inlined else "other"

    def caller(self, thread: int) -> mi.Caller:
        """Who called the user's native code on a stopped thread."""
        if not (found := self.callers.of(thread)):
            self.callers.keep(thread, found := self.ask(mi.FindCaller(thread)))
        return found

    def stack(self, thread: int) -> tuple[Frame, ...]:
        """The merged stack of a stopped thread, innermost frame first."""
        answer = self.ask(mi.Stack(thread))
        self.callers.keep(thread, answer.caller)
        if answer.note:
            self.on_note(answer.note)
        return answer.frames

    def evaluate(self, thread: int, expression: str, level: int = 0) -> str:
        """The text of a gdb expression."""
        try:
            return self.ask(mi.Evaluate(thread, expression, level))
        except GdbError as error:
            if error.message.startswith(mi.NO_FRAME):
                raise UsageError(error.message, LEVELS) from error
            raise

    def ask_agent(self, thread: int, request: Request[Any]) -> mi.AgentReply:
        """Run a request on a stopped thread of the program, which must have the agent (``agent``)."""
        if lost := self._lost_python.get(thread):
            raise HarnessError(*lost)
        return self.calls.ask(mi.AskAgent(thread, request.written()))

    def _evaluated(self, line: str, thread: int, expression: str) -> dict[str, Value]:
        """What gdb says to a command that runs an expression of the user's; Ctrl-C ends that."""
        try:
            return self._calling(thread, line, self.ending.seconds + GRACE, passed_to(self.on_interrupt))
        except GdbLostError:
            self.calls_unguarded = not self._guarded
            raise
        except GdbBusyError as error:
            raise StuckError(repr(expression)) from error

    def _calling(
        self,
        thread: int,
        line: str,
        timeout: float | None = 60.0,
        waits: contextlib.AbstractContextManager[None] | None = None,
    ) -> dict[str, Value]:
        """What gdb says to a command that calls a function on ``thread``."""
        self._called, self._stop_in_call = thread, None
        return self._gdb.command(line, timeout, waits, self._has_called)

    def _has_called(self) -> None:
        self._called = 0

    def forget_variables(self) -> None:
        """Handles are not valid any more."""
        if not self._looked_at:  # a step of a front end that shows no variables need not wait for this
            return
        self._looked_at = False
        self._gdb.post(_line(mi.ForgetVariables()))

    def ask(self, command: mi.Command[Answer]) -> Answer:
        """The answer of one of our MI commands (``protocol.mi``)."""
        return _answer(command, self._said(command, _line(command)))

    def ask_about(self, thread: int, command: mi.Command[Answer]) -> Answer:
        """The answer about a thread that gdb holds, or that debugpy does: gdb then holds it meanwhile."""
        self._looked_at = True
        said = self._said(command, f"{_line(command)} standing {thread}")
        if "runs" not in said:
            return _answer(command, said)
        held = self._held(thread, lambda: [self.ask(command)])
        if held is None:
            raise HarnessError(f"Thread {thread} cannot be held to look into it.", "Try again, or pause it.")
        return held[0]

    def _said(self, command: mi.Command[Any], line: str) -> dict[str, Value]:
        if isinstance(command, mi.AskAgent):
            return self._said_agent(command, line)
        if not isinstance(command, Running):
            try:
                return self._gdb.command(line)
            except GdbError as error:
                if self.calls.run and "thread is running" in error.message:
                    raise CallRunsError from error
                raise
        try:
            with self.ending.limited(self.pid, command.thread, command.code):
                return self._evaluated(line, command.thread, command.code)
        except (GdbBusyError, EndedError):
            raise
        except GdbError as error:
            if crash := crash_of(self._stop_in_call) or crash_told(error.message):
                raise EndedError(f"{command.code!r} {crash}.", CALL_DROPPED) from error
            if not self.calls.was_given_up(command.thread):
                raise
            message, _, remedy = error.message.partition("\n")
            raise HarnessError(message, remedy) from error  # no value: what gdb refuses may yet be Python

    def _said_agent(self, command: mi.AskAgent, line: str) -> dict[str, Value]:
        expression = command.request.get("expression", "")
        try:
            if command.request.get("do") == Evaluate.tag:
                return self._evaluated(line, command.thread, expression)
            return self._calling(command.thread, line)
        except GdbError as error:
            if not (crash := crash_of(self._stop_in_call) or crash_told(error.message)):
                raise
            lost = f"{expression or 'What was asked of Python'!r} {crash}, in the midst of Python.", PYTHON_LOST
            self._lost_python[command.thread] = lost
            raise EndedError(*lost) from error

    def resume(self, thread: int) -> None:
        """Let one thread run on."""
        self._stepping.discard(thread)
        self.calls.after(thread, lambda: self._go_on(thread, "continue"))

    def _follow_exceptions(self, thread: int, level: int = 0, *, leaves: bool = False) -> None:
        """Have a step end where the user's code catches an exception that passes it by."""
        with contextlib.suppress(GdbError):  # nothing is lost but that
            numbers = self.ask(mi.ArmHandlers(thread, level, leaves))
            self._handlers = frozenset(numbers)

    def _pass_exceptions(self) -> None:
        if self._handlers:
            self._handlers = frozenset()
            self.ask(mi.DisarmHandlers())

    def step(self, thread: int, command: Literal["continue", "next", "nexti", "stepi"]) -> None:
        """Run one thread on, to its next source line, or by one machine instruction (``nexti`` passes a call)."""
        (self._stepping.discard if command == "continue" else self._stepping.add)(thread)

        def go_on() -> None:
            if command == "continue":
                self._pass_exceptions()
            else:
                self._follow_exceptions(thread)
            self._go_on(thread, command, told=True)

        self.calls.after(thread, go_on)

    def finish(self, thread: int, level: int) -> None:
        """Run one thread until the frame ``level`` is back on top."""
        self._stepping.add(thread)
        caller = self.callers.of(thread)

        def go_on() -> None:
            self._follow_exceptions(thread, level - 1, leaves=True)
            self._go_on(thread, "finish", level - 1)
            self.callers.leave(thread, caller)

        self.calls.after(thread, go_on)

    def pause(self, thread: int) -> None:
        """Stop one thread where it is, and tell it as a pause."""
        self._interrupted.add(thread)
        self.interrupt(thread)

    def interrupt(self, thread: int) -> None:
        """Stop one thread where it is."""
        self._resume("-exec-interrupt", thread)

    def close(self, *, let_go: bool = True) -> None:
        """Detach, leave the program running, end gdb; without ``let_go`` the program is dead and gdb need only end."""
        if self._gdb.alive and self.pid and let_go:
            with contextlib.suppress(HarnessError):  # the program, or gdb, is gone: there is nothing to detach from
                self._gdb.command("-target-detach", timeout=10)
        in_order = self._gdb.close(patience=5.0 if let_go else 1.0)
        if self.pid and let_go and not in_order:
            with contextlib.suppress(ProcessLookupError):  # a gdb that dies while it attaches leaves SIGSTOP behind
                os.kill(self.pid, signal.SIGCONT)
        self.pid = 0

    def _go_on(self, thread: int, command: _Command, level: int = 0, *, told: bool = False) -> None:
        """Now; ``told``: nobody waits for gdb to begin."""
        (self._finishing.add if command == "finish" else self._finishing.discard)(thread)
        if thread in self._sent_traps:
            self._sent_traps.discard(thread)
            self._given_traps.add(thread)
            self.callers.runs(thread)
            self._gdb.command(_line(mi.ResumeWithTrap(thread, command, level)))  # ^running is no answer of ours
            return
        self._given_traps.discard(thread)
        line = self._of_thread(_STEPS[command], thread) + (f" --frame {level}" if command == "finish" else "")
        if told:
            self._gdb.start(line)
        else:
            self._gdb.command(line)

    def _resume(self, command: str, thread: int, options: str = "") -> None:
        self._gdb.command(self._of_thread(command, thread) + options)

    def _of_thread(self, command: str, thread: int) -> str:
        """The MI command for one thread, which is about to move."""
        self.callers.runs(thread)
        if thread not in self.thread_ids.values():
            self.refresh_threads()  # it is younger than the last stop
        for number, lwp in self.thread_ids.items():
            if lwp == thread:
                return f"{command} --thread {number}"
        raise HarnessError(f"gdb does not know thread {thread} of the program.", "It may have ended: look at another.")


def _line(command: mi.Command[Any]) -> str:
    """One of our MI commands, as its line."""
    return f"-{command.tag} {quote(json.dumps(command.to_json()))}"


def _answer(command: mi.Command[Answer], said: dict[str, Value]) -> Answer:
    """The answer in what gdb said; a ``GdbError`` where it is none: gdb has loaded another version of pyharness."""
    try:
        return command.read_answer(json.loads(str(said["json"])))
    except (MalformedError, ValueError, KeyError) as error:
        raise GdbError(f"gdb's half of pyharness sent a message that this half does not know: {error}") from error


def number_of(notice: Notice) -> int:
    """The number of the breakpoint or watchpoint that a ``*stopped`` record is of; 0 for none."""
    hit = next((notice.values[name] for name in _WATCHED if name in notice.values), None)
    text = str(hit.get("number") if isinstance(hit, dict) else notice.values.get("bkptno", ""))
    return int(text) if text.removeprefix("-").isdecimal() else 0

"""What gdb tells: stops of threads, log lines, and that it cannot let the program run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.debugger.breaking.failed_conditions import FailedCondition
from pyharness.debugger.expressions import Expression
from pyharness.debugger.native.stop_reasons import number_of
from pyharness.debugger.native.threads import HELD
from pyharness.debugger.stop import NativeStopped
from pyharness.gdbmi.client import GdbError, GdbLostError
from pyharness.model.conditions import log_message
from pyharness.model.errors import DebuggerLostError, HarnessError
from pyharness.protocol.mi import READ_MORE, Logged

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.debugger.breaking.breakpoint import Breakpoint
    from pyharness.debugger.listener import Listener
    from pyharness.debugger.live.libraries import Libraries
    from pyharness.debugger.live.op_stops import OpStops
    from pyharness.debugger.native.side import NativeSide
    from pyharness.debugger.shell import Shell
    from pyharness.gdbmi.records import Notice

_NO_BOUNDS = "Cannot find bounds of current function"
"""How gdb refuses to step in a function without lines whose end no symbol tells."""
_NO_PYTHON = "no Python is run at an op. Of a tensor, in0.shape, in0[0] and in0[0:2] can be read"


class GdbNotices:
    """Takes one notice after the other, on the shell's thread."""

    def __init__(
        self,
        shell: Shell,
        listener: Listener,
        libraries: Libraries,
        op_stops: OpStops,
        holds: Callable[[], None],
    ) -> None:
        """``holds()``: a thread has loaded a library with a place that cannot be set; ``go_on`` is called later."""
        self._shell = shell
        self._holds = holds
        self._held: int | None = None
        self._listener = listener
        self._libraries = libraries
        self._op_stops = op_stops

    def take(self, notice: Notice | None) -> None:
        """A notice; ``None`` for gdb's end, which does not end when the program does."""
        native = self._shell.native
        if native is None or not native.link.debugged:  # detached
            return
        if notice is None:
            raise GdbLostError("gdb")
        if notice.kind == "refused":
            self._refused(str(notice.values.get("msg", "gdb refused to let the program run.")))
        if notice.kind == HELD:
            native.stops.let_held_pass(int(str(notice.values["arming"])))
        self.printed(notice)
        if notice.kind != "stopped":
            return
        if native.asking.calls.owed:
            native.asking.calls.look()
        if "thread-id" in notice.values:
            self._stopped(native, notice)

    def printed(self, notice: Notice) -> None:
        """Hand on a log line, if it is one."""
        if notice.kind != "console":
            return
        if str(notice.values["text"]).startswith(READ_MORE) and (native := self._shell.native):
            self._libraries.read(native)
        elif said := Logged.in_line(str(notice.values["text"])):
            self._shell.breakpoints.logged(said.number, said.text)

    def _refused(self, why: str) -> None:
        leave = self._shell.machine.has_no_lines() if why == _NO_BOUNDS else []
        if not leave:
            raise GdbError(why)
        self._shell.perform(leave)

    def _stopped(self, native: NativeSide, notice: Notice) -> None:
        thread = native.link.lwp_of(str(notice.values["thread-id"]))
        if native.loads and number_of(notice) == native.loads:
            self._loaded(native, thread)
            return
        reason = native.stops.reason_of(notice, thread, self._is_users)
        if reason is None:
            return
        hit = self._hit(notice, thread) if reason == "breakpoint" else None
        if hit and (hit.log or not hit.is_set):  # it was removed while this thread came to it
            if hit.is_set:
                self._listener.logged(hit, self._message(native, hit, thread))
            native.threads.resume(thread)
            return
        if problem := native.stops.condition_problem(notice, thread):
            self._shell.failed_conditions[thread] = FailedCondition.of_native(hit, problem)
        standing = native.standing(notice, thread) if reason in {"stepped", "arrived"} else "own"
        stop = NativeStopped(thread, reason, standing != "other", hit, inlined=standing == "inlined")
        self._shell.perform(self._shell.machine.handle(stop))

    def _loaded(self, native: NativeSide, thread: int) -> None:
        """Set what waits for the library that a thread has loaded, before any of its code runs."""
        try:
            native.load_symbols()
            self._libraries.read(native)
        except HarnessError:  # is told first; where the session goes on, the program does
            self._held = thread
            self._holds()
            raise
        native.threads.resume(thread)

    def go_on(self) -> None:
        """Have the thread go on that has loaded a library with a place that could not be set, if there is one."""
        thread, self._held = self._held, None
        if thread is not None and self._shell.native:
            self._shell.native.threads.resume(thread)

    def _is_users(self, number: int) -> bool:
        """Whether a breakpoint of gdb's is one of the user's, or stops for one."""
        return number in self._shell.breakpoints.of_number or self._op_stops.is_trap(number)

    def _hit(self, notice: Notice, thread: int) -> Breakpoint | None:
        """The breakpoint that a thread has hit; ``None`` for one that the program has of its own."""
        return self._shell.breakpoints.of_number.get(number_of(notice)) or self._op_stops.at_trap(thread)

    def _message(self, native: NativeSide, point: Breakpoint, thread: int) -> str:
        """What a log point at an op prints; gdb makes that of any other native one itself."""
        texts, values = log_message.parts(point.log)
        shown = [self._value(native, thread, value) for value in values]
        text = texts[0] + "".join(value + text for value, text in zip(shown, texts[1:], strict=True))
        return log_message.shortened(text)

    def _value(self, native: NativeSide, thread: int, expression: str) -> str:
        asked = Expression.of(expression.strip(), "native")
        if asked.language == "python":
            return f"<{asked.text}: {_NO_PYTHON}>"
        try:
            return native.evaluate(thread, asked.text)
        except DebuggerLostError:
            raise
        except HarnessError as error:
            return f"<{' '.join(str(error).splitlines())}>"

"""What a stop that gdb tells means for the machine, and the traps at all functions, which only one thread stops at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.debugger.native.in_program.ending import crash_of, crash_told
from pyharness.protocol import mi

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.debugger.native.in_program.asking import NativeAsking
    from pyharness.debugger.native.threads import NativeThreads
    from pyharness.debugger.stop import NativeReason
    from pyharness.gdbmi.records import Notice

_ARMS_NEXT = {"end-stepping-range", "function-finished"}
"""Ends of steps where gdb arms the next one."""
_WAYS_END = {*_ARMS_NEXT, "location-reached"}
_HELD_SECONDS = 0.06
"""How long other threads wait at the traps of a step, which nobody can miss meanwhile."""
_WATCHED = ("wpt", "hw-rwpt", "hw-awpt")
"""What MI calls a watchpoint in a stop: for writes, for reads, for both."""


class StopReasons:
    """Reads stops of threads; one that is none of the machine's business goes on from here."""

    def __init__(self, asking: NativeAsking, threads: NativeThreads) -> None:
        self._asking = asking
        self._threads = threads
        self._armed_thread = 0
        self._passing: set[int] = set()
        """Threads that run one instruction past a trap that is not for them."""
        self._held: set[int] = set()
        """Threads that wait at a trap that is not for them, until the step is over or has taken too long."""
        self._holds = True
        self._armings = 0
        self._in_handler: set[int] = set()
        """Threads whose step goes on when the handler of a signal has returned."""
        self._condition_crashes: dict[int, str] = {}
        """Threads that stand in the midst of a breakpoint's condition → what a signal did to that."""
        self.of_number: dict[int, NativeReason] = {}
        """gdb's number of a watchpoint or an exception's breakpoint → what a stop at it is."""

    def arm(self, thread: int) -> mi.Armed:
        """Break at all of the user's functions on ``thread``."""
        self._armed_thread, self._holds = thread, True
        self._armings += 1
        self._in_handler.clear()
        return self._asking.ask(mi.Arm(thread))

    def disarm(self, standing: int = 0) -> None:
        """Undo ``arm``; ``standing``: the thread that has come to a stop in native code, and may step on from there."""
        self._armed_thread = 0
        handlers = self._asking.ask(mi.Disarm(standing))
        if handlers is not None:
            self._threads.note_armed(mi.ArmHandlers(standing), handlers)
        held, self._held = self._held, set()
        for thread in held:
            self._threads.resume(thread)

    def let_held_pass(self, arming: int) -> None:
        """The step has taken long: it may wait for the threads that are held for it."""
        if not self._armed_thread or arming != self._armings:
            return
        held, self._held, self._holds = self._held, set(), False
        for thread in held:
            self._pass(thread)

    def reason_of(self, notice: Notice, thread: int, is_users: Callable[[int], bool]) -> NativeReason | None:
        """What a ``*stopped`` record means for the machine; ``None`` for one that means nothing to it."""
        threads = self._threads
        if thread in self._passing:
            self._passing.discard(thread)
            self._asking.ask(mi.PassTraps(again=bool(self._armed_thread)))
            threads.resume(thread)
            return None
        reason = str(notice.values.get("reason", ""))
        if (reason not in _ARMS_NEXT or self._armed_thread) and threads.armed and threads.armed.thread == thread:
            threads.armed = None
        finishing = threads.finishing & {thread}
        threads.finishing.discard(thread)
        if finishing:
            threads.callers.came_out(thread, notice)
        if known := self.of_number.get(number_of(notice)):
            return known
        if reason == "breakpoint-hit":
            return "breakpoint" if is_users(number_of(notice)) else self._arrived(thread, number_of(notice))
        if reason in _WAYS_END or (not reason and thread in finishing | (threads.given_traps & threads.stepping)):
            return "stepped"
        return self._signal(notice, thread) if reason == "signal-received" else None

    def condition_problem(self, notice: Notice, thread: int) -> str:
        """Why the condition of a breakpoint could not be tested, at which a thread stops; empty where it could."""
        crash = self._condition_crashes.pop(thread, "")
        error = str(notice.values.get("condition-error", ""))
        crash = crash or (crash_told(error) if error else "")
        return f"what it calls {crash}" if crash else error

    def _arrived(self, thread: int, number: int) -> NativeReason | None:
        """At what a step has armed; where an exception is caught, or a signal's handler is left, the step goes on."""
        if number in self._threads.handlers:
            self._threads.finish_handler(thread)
            return None
        if thread not in self._in_handler:
            return "arrived"
        self._in_handler.discard(thread)
        self._asking.ask(mi.Delete((number,)))  # the line may come by here again
        self._threads.step(thread, "next")
        return None

    def _signal(self, notice: Notice, thread: int) -> NativeReason | None:
        name = str(notice.values.get("signal-name"))
        if name == "0" and thread in self._threads.interrupted:
            self._threads.interrupted.discard(thread)
            return self._paused(thread)
        if name == "SIGTRAP":
            return self._trap(thread)
        if name not in {"0", "SIGSTOP"} and self._asking.ask(mi.IsOfCall(thread)):  # the breakpoint's stop comes next
            self._condition_crashes[thread] = crash_of(notice)
            return None
        return None if name in {"0", "SIGSTOP"} else "signal"

    def _paused(self, thread: int) -> NativeReason | None:
        """Where Python may be asked, which a pause may come anywhere of; a stop on the way there comes next."""
        came = self._asking.come_out(thread)
        if came is not None:
            self._threads.tell(came)
        return "pause" if came is None else None

    def _trap(self, thread: int) -> NativeReason | None:
        """A trap that ``arm`` planted, for its thread; another thread waits at it, and passes it if that takes long."""
        if thread == self._armed_thread:
            hit = self._asking.ask(mi.Trap(thread, "own"))
            if hit in {"beginning", "handler"}:
                if hit == "handler" and thread in self._threads.stepping:
                    self._in_handler.add(thread)
                self._threads.resume(thread)
                return None
            return "arrived" if hit == "trap" else self._own_trap(thread)
        holds = self._armed_thread and self._holds
        if self._asking.ask(mi.Trap(thread, "hold" if holds else "lift")) == "none":
            return self._own_trap(thread)
        if holds:
            if not self._held:
                self._threads.tell_later(_HELD_SECONDS, self._armings)
            self._held.add(thread)
        elif self._armed_thread:
            self._pass(thread)
        else:  # it is lifted since
            self._threads.resume(thread)
        return None

    def _pass(self, thread: int) -> None:
        """Have a thread pass a trap by one instruction, for which it is lifted: who steps may miss it then."""
        self._asking.ask(mi.Trap(thread, "lift"))
        self._passing.add(thread)
        self._threads.one_instruction(thread)

    def _own_trap(self, thread: int) -> NativeReason | None:
        """No trap of ours: one that was sent is passed on, as every signal; a step that it came to goes on after it."""
        if not self._asking.ask(mi.IsSentTrap(thread)):
            return "signal"
        self._threads.sent_traps.add(thread)
        if thread in self._threads.stepping:
            return "stepped"
        self._threads.resume(thread)
        return None


def number_of(notice: Notice) -> int:
    """The number of the breakpoint or watchpoint that a ``*stopped`` record is of; 0 for none."""
    hit = next((notice.values[name] for name in _WATCHED if name in notice.values), None)
    text = str(hit.get("number") if isinstance(hit, dict) else notice.values.get("bkptno", ""))
    return int(text) if text.removeprefix("-").isdecimal() else 0

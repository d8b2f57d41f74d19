"""What a stop that gdb tells means for the machine, and the traps at all functions, which only one thread stops at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.debugger.native.in_program.ending import crash_of, crash_told
from pyharness.protocol import mi

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.debugger.machine import NativeReason
    from pyharness.debugger.native.in_program.asking import NativeAsking
    from pyharness.debugger.native.threads import NativeThreads
    from pyharness.gdbmi.records import Notice

_STEP_ENDS = {"end-stepping-range", "function-finished", "location-reached"}
_WATCHED = ("wpt", "hw-rwpt", "hw-awpt")
"""What MI calls a watchpoint in a stop: for writes, for reads, for both."""


class StopReasons:
    """Reads stops of threads; one that is none of the machine's business goes on from here."""

    def __init__(self, asking: NativeAsking, threads: NativeThreads, *, guarded: bool) -> None:
        self._asking = asking
        self._threads = threads
        self._guarded = guarded
        self._armed_thread = 0
        self._passing: set[int] = set()
        """Threads that run one instruction past a trap that is not for them."""
        self._condition_crashes: dict[int, str] = {}
        """Threads that stand in the midst of a breakpoint's condition → what a signal did to that."""
        self.of_number: dict[int, NativeReason] = {}
        """gdb's number of a watchpoint or an exception's breakpoint → what a stop at it is."""

    def arm(self, thread: int) -> mi.Armed:
        """Break at all of the user's functions on ``thread``."""
        self._armed_thread = thread
        return self._asking.ask(mi.Arm(thread, guarded=self._guarded))

    def disarm(self) -> None:
        """Undo ``arm``."""
        self._armed_thread = 0
        self._asking.ask(mi.Disarm())

    def reason_of(self, notice: Notice, thread: int, is_users: Callable[[int], bool]) -> NativeReason | None:
        """What a ``*stopped`` record means for the machine; ``None`` for one that means nothing to it."""
        threads = self._threads
        if thread in self._passing:
            self._passing.discard(thread)
            self._asking.ask(mi.PassTraps(again=bool(self._armed_thread)))
            threads.resume(thread)
            return None
        reason = str(notice.values.get("reason", ""))
        finishing = threads.finishing & {thread}
        threads.finishing.discard(thread)
        threads.callers.stopped(thread, notice)
        if known := self.of_number.get(number_of(notice)):
            return known
        if number_of(notice) in threads.handlers:
            threads.finish_handler(thread)
            return None
        if reason == "breakpoint-hit":
            return "breakpoint" if is_users(number_of(notice)) else "arrived"
        if reason in _STEP_ENDS or (not reason and thread in finishing | (threads.given_traps & threads.stepping)):
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
        if name == "0" and thread in self._threads.interrupted:
            self._threads.interrupted.discard(thread)
            return "pause"
        if name == "SIGTRAP":
            return self._trap(thread)
        if name not in {"0", "SIGSTOP"} and self._asking.ask(mi.IsOfCall(thread)):  # the breakpoint's stop comes next
            self._condition_crashes[thread] = crash_of(notice)
            return None
        return None if name in {"0", "SIGSTOP"} else "signal"

    def _trap(self, thread: int) -> NativeReason | None:
        """A trap that ``arm`` planted, for its thread; another thread passes it, one instruction while it is lifted."""
        if thread == self._armed_thread:
            hit = self._asking.ask(mi.Trap(thread, lift=False))
            if hit == "beginning":
                self._threads.resume(thread)
                return None
            return "arrived" if hit == "trap" else self._own_trap(thread)
        if self._asking.ask(mi.Trap(thread, lift=True)) == "none":
            return self._own_trap(thread)
        if not self._armed_thread:  # it is lifted since
            self._threads.resume(thread)
            return None
        self._passing.add(thread)
        self._threads.one_instruction(thread)
        return None

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

"""The program's threads, as gdb has them go on, step and stop; and what each was last asked to do."""

from __future__ import annotations

import contextlib
import queue
import threading
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

from pyharness.debugger.native.callers import NativeCallers
from pyharness.debugger.native.link import line_of
from pyharness.gdbmi.client import GdbError
from pyharness.gdbmi.records import Notice
from pyharness.model.errors import HarnessError
from pyharness.protocol import mi

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.debugger.native.in_program.asking import NativeAsking
    from pyharness.debugger.native.link import GdbLink
    from pyharness.protocol.mi import ArmHandlers

HELD = "held"
"""Kind of a notice of our own: threads are held for a step that takes long."""
SETTLE_SECONDS = 2.0
"""How long a thread may take to stop for gdb."""
_Command: TypeAlias = Literal["continue", "next", "nexti", "stepi", "finish"]
_STEPS: dict[_Command, str] = {
    "continue": "-exec-continue",
    "next": "-exec-next",
    "nexti": "-exec-next-instruction",
    "stepi": "-exec-step-instruction",
    "finish": "-exec-finish",
}

Answer = TypeVar("Answer")


class NativeThreads:
    """Moves one thread at a time, by its LWP."""

    def __init__(self, link: GdbLink, asking: NativeAsking) -> None:
        self._link = link
        self._asking = asking
        self.callers = NativeCallers()
        """Who called the code of threads that stand, and what was returned to them."""
        self.stepping: set[int] = set()
        """Threads that gdb was last asked to step, not to let run."""
        self.finishing: set[int] = set()
        """Threads on their way out of a frame: gdb gives no reason for that stop where the frame has no symbol."""
        self.interrupted: set[int] = set()
        """Threads that are to be told as paused."""
        self.sent_traps: set[int] = set()
        """Threads that stand because a SIGTRAP was sent to them, which they get when they go on."""
        self.given_traps: set[int] = set()
        """Threads that went on with one: gdb does not say why such a step ends."""
        self._handlers: Callable[[], tuple[int, ...]] | None = None
        """What gdb says to the latest ``ArmHandlers``; ``None`` where nothing is armed."""
        self.armed: ArmHandlers | None = None
        """What gdb has armed unasked for a step that may come; ``None`` where that step has to ask."""

    @property
    def handlers(self) -> tuple[int, ...]:
        """gdb's numbers of what stops a step where an exception is caught; empty where nothing is armed."""
        with contextlib.suppress(HarnessError):  # nothing is lost but that
            return self._handlers() if self._handlers else ()
        return ()

    # --- on -----------------------------------------------------------------------------------------------------------

    def resume(self, thread: int) -> None:
        """Let one thread run on."""
        self.stepping.discard(thread)
        self._asking.calls.after(thread, lambda: self._go_on(thread, "continue"))

    def pass_by(self, stop: Notice) -> None:
        """Let a thread go on that has stopped where nobody looks; from any thread."""
        self._link.start(f"-exec-continue --thread {stop.values['thread-id']}")

    def step(self, thread: int, command: Literal["continue", "next", "nexti", "stepi"]) -> None:
        """Run one thread on, to its next source line, or by one machine instruction (``nexti`` passes a call)."""
        (self.stepping.discard if command == "continue" else self.stepping.add)(thread)

        def go_on() -> None:
            if command == "continue":
                self._pass_exceptions()
            else:
                self._follow_exceptions(mi.ArmHandlers(thread), arms_next=True)
            self._go_on(thread, command, told=True)

        self._asking.calls.after(thread, go_on)

    def finish(self, thread: int, level: int) -> None:
        """Run one thread until the frame ``level`` is back on top."""
        self.stepping.add(thread)
        caller = self.callers.of(thread)

        def go_on() -> None:
            # Where other functions are left with this one, inlined ones may be: then the way out may go on.
            goes_on = caller is None or not caller.function
            self._follow_exceptions(mi.ArmHandlers(thread, level - 1, leaves=True), arms_next=not goes_on)
            self._go_on(thread, "finish", level - 1)
            self.callers.leave(thread, caller)

        self._asking.calls.after(thread, go_on)

    def finish_handler(self, thread: int) -> None:
        """Go on from the runtime, which has found who catches an exception, into that function."""
        self._go_on(thread, "finish")

    def one_instruction(self, thread: int) -> None:
        """Run one machine instruction, of which nobody is to hear."""
        self._link.command(self._of_thread("-exec-step-instruction", thread))

    def _follow_exceptions(self, wanted: mi.ArmHandlers, *, arms_next: bool) -> None:
        """Have a step end where the user's code catches an exception that passes it by.

        ``arms_next``: where this step ends, gdb arms the next one.
        """
        is_armed = self.armed == wanted and bool(self.handlers)
        self.armed = None
        with contextlib.suppress(GdbError):
            if not is_armed:
                self._handlers = self._link.begin_asking(wanted)
            self.armed = mi.ArmHandlers(wanted.thread) if arms_next else None

    def note_armed(self, armed: ArmHandlers, handlers: tuple[int, ...]) -> None:
        """gdb has armed a step that may come, as it was asked about the thread."""
        self.armed, self._handlers = armed, lambda: handlers

    def _pass_exceptions(self) -> None:
        self.armed = None
        if self._handlers:
            self._handlers = None
            self._asking.ask(mi.DisarmHandlers())

    def tell_later(self, seconds: float, arming: int) -> None:
        """Have the shell's thread hear after some time that threads are held for a step, by its ``arming``."""
        told = Notice("notify", HELD, {"arming": str(arming)})
        timer = threading.Timer(seconds, self._link.tell, [told])
        timer.daemon = True
        timer.start()

    def tell(self, stop: Notice) -> None:
        """Have the shell's thread hear of a stop that came while something else was waited for."""
        self._link.tell(stop)

    def _go_on(self, thread: int, command: _Command, level: int = 0, *, told: bool = False) -> None:
        """Now; ``told``: nobody waits for gdb to begin."""
        (self.finishing.add if command == "finish" else self.finishing.discard)(thread)
        if thread in self.sent_traps:
            self.sent_traps.discard(thread)
            self.given_traps.add(thread)
            self.callers.runs(thread)
            self._link.command(line_of(mi.ResumeWithTrap(thread, command, level)))  # ^running is no answer of ours
            return
        self.given_traps.discard(thread)
        line = self._of_thread(_STEPS[command], thread) + (f" --frame {level}" if command == "finish" else "")
        if told:
            self._link.start(line)
        else:
            self._link.command(line)

    # --- stop ---------------------------------------------------------------------------------------------------------

    def pause(self, thread: int) -> None:
        """Stop one thread where it is, and tell it as a pause."""
        self.interrupted.add(thread)
        self.interrupt(thread)

    def interrupt(self, thread: int) -> None:
        """Stop one thread where it is."""
        self._link.command(self._of_thread("-exec-interrupt", thread))

    def held(
        self, thread: int, ask: Callable[[], Answer], go_on: Callable[[Answer], None] | None = None
    ) -> Answer | None:
        """The answer about a running thread, which is held meanwhile; ``None`` when it cannot be held in time.

        ``go_on`` lets it run by the answer, where it is to run otherwise than before.
        """
        others: list[Notice | None] = []
        answer: Answer | None = None
        try:
            with self._link.gathered() as stops, contextlib.suppress(queue.Empty):
                self.interrupt(thread)
                while (notice := stops.get(timeout=SETTLE_SECONDS)) is not None:
                    if self._link.lwp_of(str(notice.values.get("thread-id", ""))) == thread:
                        return (answer := ask())
                    others.append(notice)
        finally:
            with contextlib.suppress(HarnessError):
                if go_on is None or answer is None:
                    self.resume(thread)
                else:
                    go_on(answer)
            for other in others:
                self._link.tell(other)
        return None

    def _of_thread(self, command: str, thread: int) -> str:
        """The MI command for one thread, which is about to move."""
        self.callers.runs(thread)
        if thread not in self._link.thread_ids.values():
            self._link.refresh_threads()  # it is younger than the last stop
        for number, lwp in self._link.thread_ids.items():
            if lwp == thread:
                return f"{command} --thread {number}"
        raise HarnessError(f"gdb does not know thread {thread} of the program.", "It may have ended: look at another.")

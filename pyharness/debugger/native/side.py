"""The native half: one gdb, attached to the program, in non-stop mode."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
from typing import TYPE_CHECKING, Literal, TypeVar

from pyharness.debugger.native import settings
from pyharness.debugger.native.in_program.asking import NativeAsking
from pyharness.debugger.native.link import answer_of, line_of
from pyharness.debugger.native.scripts import read_scripts
from pyharness.debugger.native.stop_reasons import StopReasons
from pyharness.debugger.native.threads import SETTLE_SECONDS, NativeThreads
from pyharness.gdbmi.client import GdbError
from pyharness.model.errors import HarnessError, UsageError
from pyharness.model.evaluation import LEVELS
from pyharness.model.glue import glue_family
from pyharness.model.text.source_line import remember
from pyharness.protocol import mi

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pyharness.debugger.native.link import GdbLink, Stops
    from pyharness.gdbmi.records import Notice
    from pyharness.model.frames import Frame
    from pyharness.model.user_code import UserCode
    from pyharness.protocol.agent import Doorway

Answer = TypeVar("Answer")
Standing = Literal["own", "inlined", "other"]
"""In the user's code, in a library's that is inlined into theirs, elsewhere."""


class NativeSide:
    """What the core asks of gdb, in terms of kernel threads."""

    def __init__(
        self,
        link: GdbLink,
        user_code: UserCode,
        threads: type[NativeThreads] = NativeThreads,
    ) -> None:
        self.link = link
        """The gdb itself."""
        self.asking = NativeAsking(link)
        """What runs in the program for gdb."""
        self.threads = threads(link, self.asking)
        """How threads go on."""
        self.stops = StopReasons(self.asking, self.threads)
        """What their stops mean."""
        self._user_code = user_code
        self.agent: Doorway | None = None
        """Where the program's agent is asked, ``None`` where it has none."""
        self.loads = 0
        """gdb's number of the stop where native code has loaded a library."""
        self._looked_at = False
        """Variables were handed out since they were last forgotten."""
        self.on_note: Callable[[str], None] = lambda _text: None
        """Takes what is to be known of the library that a thread stands in."""
        self.on_hint: Callable[[str], None] = lambda _text: None
        """Takes how to see more of the code that a thread stands in."""

    @property
    def pid(self) -> int:
        """The process that gdb is attached to; 0 for none."""
        return self.link.debugged

    @property
    def alive(self) -> bool:
        """Whether gdb still answers."""
        return self.link.alive

    @property
    def transcript(self) -> list[str]:
        """What was said on the MI channel."""
        return list(self.link.transcript)

    # --- life ---------------------------------------------------------------------------------------------------------

    def prepare(self, scripts: Sequence[str] = ()) -> None:
        """Load our commands and the person's own ``scripts``; done early, while the program still starts."""
        settings.load(self.link)
        read_scripts(self, scripts)
        settings.set_up(self.link)  # behind the scripts, whose settings give way

    def attach(self, pid: int, *, agent: Doorway | None = None, guarded: bool = False) -> None:
        """Attach and let all threads run on.

        ``agent``: where that of the program is asked; ``guarded``: it outlives a breakpoint that is left in it.
        """
        self.agent, self.asking.guarded = agent, guarded
        self.link.debugs(pid)
        with self.link.gathered() as stops:
            try:
                self.ask(mi.Attach(pid, agent, guarded))
            except GdbError as error:
                message, _, remedy = error.message.partition("\n")
                raise HarnessError(message, remedy or error.remedy) from error
            self._settle(stops)
        self.loads = self.ask(mi.WatchLoads())
        self.link.command("-exec-continue --all")

    def _settle(self, stops: Stops) -> None:
        """Wait until every thread has reported the stop of the attach.

        In non-stop mode these reports come one by one after the attach. One that came after a thread was resumed would
        look like a stop of its own.
        """
        self.link.refresh_threads()
        missing = set(self.link.thread_ids)
        with contextlib.suppress(queue.Empty):  # a thread that ended meanwhile reports nothing
            while missing and (notice := stops.get(timeout=SETTLE_SECONDS)) is not None:
                missing.discard(str(notice.values.get("thread-id", "")))

    def close(self, *, let_go: bool = True) -> None:
        """Detach, leave the program running, end gdb; without ``let_go`` the program is dead and gdb need only end."""
        pid = self.pid
        if self.alive and pid and let_go:
            with contextlib.suppress(HarnessError):  # the program, or gdb, is gone: there is nothing to detach from
                self.link.command("-target-detach", timeout=10)
        in_order = self.link.close(patience=5.0 if let_go else 1.0)
        if pid and let_go and not in_order:
            with contextlib.suppress(ProcessLookupError):  # a gdb that dies while it attaches leaves SIGSTOP behind
                os.kill(pid, signal.SIGCONT)
        self.link.debugged = 0

    # --- asked --------------------------------------------------------------------------------------------------------

    def ask(self, command: mi.Command[Answer]) -> Answer:
        """The answer of one of our MI commands (``protocol.mi``)."""
        return self.asking.ask(command)

    def ask_about(self, thread: int, command: mi.Command[Answer]) -> Answer:
        """The answer about a thread that gdb holds, or that debugpy does: gdb then holds it meanwhile."""
        self._looked_at = True
        for answer in self._about(thread, command):
            return answer
        raise HarnessError(f"Thread {thread} cannot be held to look into it.", "Try again, or pause it.")

    def _about(self, thread: int, command: mi.Command[Answer]) -> list[Answer]:
        """The answer about a thread that has stopped, or runs and is held meanwhile; none where it cannot be held."""
        said = self.asking.said(command, f"{line_of(command)} standing {thread}")
        if "runs" not in said:
            return [answer_of(command, said)]
        held = f"{line_of(command)} held {thread}"
        return self.threads.held(thread, lambda: [answer_of(command, self.asking.said(command, held))]) or []

    def look_ahead(self, command: mi.Stack | mi.Scopes) -> None:
        """Have gdb read what a client will ask for next of a thread that stands in native code."""
        self._looked_at |= isinstance(command, mi.Scopes)
        self.asking.ahead.begin(command)

    def forget_variables(self) -> None:
        """Handles are not valid any more."""
        self.asking.ahead.forget()
        if not self._looked_at:  # a step of a front end that shows no variables need not wait for this
            return
        self._looked_at = False
        self.link.post(line_of(mi.ForgetVariables()))

    def load_symbols(self) -> None:
        """Read the symbols of the user's libraries that were loaded since."""
        self.ask(mi.LoadSymbols())

    def delete(self, numbers: Iterable[int]) -> None:
        """Delete breakpoints by number."""
        if found := tuple(numbers):
            self.ask(mi.Delete(found))

    def arm_return(self, thread: int, stdlib: str) -> bool:
        """Stop where native code of the user's goes on, if it called the Python function that debugpy holds."""
        return bool(self.threads.held(thread, lambda: self.ask(mi.ArmReturn(thread, stdlib))))

    def evaluate(self, thread: int, expression: str, level: int = 0) -> str:
        """The text of a gdb expression."""
        try:
            return self.ask(mi.Evaluate(thread, expression, level))
        except GdbError as error:
            if error.message.startswith(mi.NO_FRAME):
                raise UsageError(error.message, LEVELS) from error
            raise

    # --- where a thread stands ----------------------------------------------------------------------------------------

    def where(self, thread: int) -> mi.Location:
        """Where a stopped thread stands."""
        place = self.ask(mi.Where(thread))
        if place.hint:
            self.on_hint(place.hint)
        return place

    def standing(self, notice: Notice, thread: int) -> Standing:
        """In whose code a thread stopped; gdb mostly says so in the ``*stopped`` record itself."""
        frame = notice.values.get("frame")
        file = frame.get("fullname") if isinstance(frame, dict) else None
        is_told = thread not in self.threads.callers.may_be_within
        if is_told and isinstance(file, str) and self._user_code.has_source(file):
            return "other" if isinstance(frame, dict) and glue_family(str(frame.get("func")), file) else "own"
        if isinstance(frame, dict) and not file:
            return "other"
        found = self.where(thread)
        return "own" if found.user else "inlined" if found.inlined else "other"

    def caller(self, thread: int) -> mi.Caller:
        """Who called the user's native code on a stopped thread, which is about to leave it."""
        if not (found := self.threads.callers.of(thread)):
            self.threads.callers.keep(thread, found := self.ask(mi.FindCaller(thread, arms=True)))
            if found.handlers is not None:
                self.threads.note_armed(mi.ArmHandlers(thread, found.level - 1, leaves=True), found.handlers)
        return found

    def stack(self, thread: int) -> tuple[Frame, ...]:
        """The merged stack of a stopped thread, innermost frame first."""
        return self._shown(thread, self.ask(mi.Stack(thread)))

    def _shown(self, thread: int, answer: mi.MergedStack) -> tuple[Frame, ...]:
        self.threads.callers.keep(thread, answer.caller)
        for source in answer.sources:
            remember(source.file, source.text)
        if answer.note:
            self.on_note(answer.note)
        if answer.left_out:
            self.on_hint(answer.left_out)
        return answer.frames

    def stack_of_other(self, thread: int) -> tuple[Frame, ...]:
        """The ``stack`` of a thread that may run, or that debugpy holds; empty when it cannot be held for that."""
        return next((self._shown(thread, answer) for answer in self._about(thread, mi.Stack(thread))), ())

    def owners_of(self, thread: int) -> tuple[mi.Owner, ...]:
        """The threads for which one works that no Python has called, the most likely one first."""
        return next(iter(self._about(thread, mi.FindOwners(thread))), ())

    def stack_of_owner(self, owner: mi.Owner) -> tuple[tuple[Frame, ...], int]:
        """The stack of such a thread, and the level of the frame whose data the other one works with."""
        for answer in self._about(owner.thread, mi.Stack(owner.thread, holding=owner.address)):
            return self._shown(owner.thread, answer), answer.holder
        return (), 0

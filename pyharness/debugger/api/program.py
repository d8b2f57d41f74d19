"""One debugged program: the Python API."""

from __future__ import annotations

import logging
import threading
import weakref
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pyharness.debugger import interrupts
from pyharness.debugger.api.evaluation import text_of
from pyharness.debugger.api.hold import Hold
from pyharness.debugger.api.waiting import Heard, Missing
from pyharness.debugger.breaking.breakpoint import Breakpoint
from pyharness.debugger.breaking.kernel_element import places_of
from pyharness.debugger.described_stop import described
from pyharness.debugger.frame_variables import variables_of
from pyharness.debugger.interrupts import postponed
from pyharness.debugger.live.shell import LiveShell
from pyharness.debugger.merged_stack import merged_stack
from pyharness.debugger.starting import words
from pyharness.debugger.starting.attach import Attachment
from pyharness.debugger.starting.launch import missing_in
from pyharness.host.exit_status import ExitStatus
from pyharness.model.conditions import log_message
from pyharness.model.element import parse as parse_element
from pyharness.model.errors import DebuggerLostError, HarnessError, UsageError
from pyharness.model.evaluation import EVAL_TIMEOUT, checked_level, checked_timeout
from pyharness.model.where import Where, folders_of, parse
from pyharness.protocol.mi import MAX_FRAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from pyharness.debugger.action import Request
    from pyharness.debugger.shell import Shell
    from pyharness.debugger.starting.target import Target
    from pyharness.model.frames import Frame
    from pyharness.model.stops import Stop
    from pyharness.protocol.channel import Child

Answer = TypeVar("Answer")
DEBUGGER_LOST = DebuggerLostError
_SAVES = 1.0
"""Seconds that a program may take to end after a Ctrl-C before we say that we wait for it."""
_SAVING = "The program has heard Ctrl-C, too, and has not ended yet. Ctrl-C again ends it."
_LOG = logging.getLogger("pyharness")


class Program:
    """A program under both debuggers; made by ``debug`` and ``attach``, in a ``with`` block or without one.

    One thread at a time uses it; ``kill``, ``detach`` and ``close`` may be called while another waits for a stop.
    Every method that resumes returns the next ``Stop``, or ``None`` when the program ended.
    """

    def __init__(
        self,
        command: Target,
        included: Sequence[str] = (),
        progress: Callable[[str], None] | None = None,
        *,
        notes: Callable[[str], None] | None = None,
        on_child: Callable[[Child], None] | None = None,
        crashes: bool = False,
        eval_timeout: float = EVAL_TIMEOUT,
    ) -> None:
        checked_timeout(eval_timeout)
        self._command = command
        self._progress = progress or (lambda _text: None)
        self._notes = notes or _LOG.warning
        self._heard = Heard(self._notes, on_child)
        self._make_shell: Callable[[], Shell] = lambda: LiveShell(
            command, included, self._progress, crashes=crashes, eval_timeout=eval_timeout, listener=self._heard
        )
        self.stop: Stop | None = None
        """Where the program stands, ``None`` while it runs and after its end."""
        self._shell: Shell
        self._begin()

    # --- life ---------------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Wait until the program stands before its first line."""
        self._progress("starting the program")
        with postponed():
            self._shell = self._make_shell()
            del self._make_shell  # it refers to this object, which ends the session as soon as nobody does
            self._hold = Hold(self._shell, ours=self._command.ours)
            self._held = weakref.finalize(self, self._hold.give_up)
        try:
            self._shell.pump(lambda: self._shell.ready, self._shell.tell_late)
        except DebuggerLostError as error:
            if self._command.ours:
                error.remedy = "The program was ended before its first line."
            else:
                self.left_by(error)
            self.close()
            raise
        except BaseException:
            self.close()
            raise
        if self.exit_code is not None:
            self.close()
            raise missing_in(self._command.python, ran_before=isinstance(self._command, Attachment))

    def __enter__(self) -> Program:  # noqa: PYI034  (Self is not in 3.10's typing)
        """The program, of which ``close`` is called at the end of the block."""
        self._require_open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the program, unless it was detached or a debugger died: that is no reason to end the user's work.

        One that was attached to runs on.
        """
        if isinstance(error, DebuggerLostError):
            self.left_by(error)
        self.close()

    def close(self) -> None:
        """End the session: the program with it, unless it was detached, or runs on because it was attached to.

        That happens by itself at the end of a ``with`` block, of this process, or where nothing refers to it any more.
        """
        self.stop = None
        if self._held.detach():
            self._hold.give_up()

    @property
    def pid(self) -> int:
        """Process id of the program."""
        return self._shell.process.pid

    @property
    def exit_code(self) -> int | None:
        """Exit code of the program once it ended; negative for a signal."""
        return self._shell.exit_code

    def detach(self) -> None:
        """Leave the program running without any debugger."""
        self._hold.require_own()
        if not self._hold.given_up:
            self.stop = None
            self._hold.detach()

    def left_by(self, error: DebuggerLostError) -> None:
        """A debugger died: leave the program running, and have ``error`` say what became of it."""
        if self._hold.given_up or self._hold.foreign:
            return
        if self.exit_code is None:
            self.detach()
        error.remedy = self._shell.fate()

    def finish(self) -> int:
        """Detach and wait for the program's end; its exit code, negative for a signal."""
        with self._hold.used():
            if not self._hold.given_up and not self._shell.lost:
                self._shell.catch_up()
        if self._shell.exit_code is None:
            self.detach()
            self._shell.exit_code = self._shell.process.wait()
        return self._shell.exit_code

    def kill(self) -> None:
        """End the program."""
        self._hold.kill()

    def interrupted(self, by: BaseException) -> None:
        """End the program, for what ``by`` told us; a Ctrl-C in the terminal it has heard, too, and ends by itself.

        It may have something to save. Another Ctrl-C ends it at once.
        """
        told = isinstance(by, KeyboardInterrupt) or getattr(by, "code", None) == ExitStatus.INTERRUPTED
        if not told or self.exit_code is not None or not interrupts.reaches(self.pid):
            self.kill()
            return
        waits = threading.Timer(_SAVES, self._notes, (_SAVING,))
        with interrupts.raised(), suppress(KeyboardInterrupt, HarnessError):
            waits.start()
            self.detach()
            self._shell.process.wait()
        waits.cancel()
        self.kill()

    # --- breakpoints --------------------------------------------------------------------------------------------------

    def set_breakpoint(self, where: str | Where) -> Breakpoint:
        """Stop at ``where`` (``fx:``, ``py:`` or ``native:``, with ``if CONDITION``) whenever a thread comes to it.

        With ``hits N`` it stops the Nth time, with ``hits >= N`` from then on, with ``hits % N`` each Nth time. It may
        name code that is not loaded yet.
        """
        return self._add(Breakpoint(self._place(where)))

    def log(self, where: str | Where, message: str, to: Callable[[str], object] = print) -> Breakpoint:
        """Print ``message`` whenever a thread comes to ``where``, and run on: a log point.

        Args:
            where: The place, with its conditions, as for ``set_breakpoint``.
            message: A line of text; each ``{EXPRESSION}`` in it, in the place's language, is evaluated there.
            to: Called with each line, on the thread that waits for the program's next stop.

        """
        place = self._place(where)
        text = words.word("message", message)
        point = Breakpoint(place, log_message.required(text, python=place.is_python))
        self._heard.to[point] = to
        return self._add(point)

    def _place(self, where: str | Where) -> Where:
        if isinstance(where, Where):
            return where
        root = self._shell.breakpoints.root  # as it was at the start: the program may be gone by now
        folders = [Path(self._shell.process.surroundings.folder)] if root else folders_of(self._command.file)
        return parse(words.word("where", where), folders, root)

    def _add(self, new: Breakpoint) -> Breakpoint:
        shell = self._shell
        with self._hold.used():
            self._require_alive()
            with shell.excused():
                shell.set_breakpoint(new)
        return new

    def clear_breakpoint(self, breakpoint_: Breakpoint) -> None:
        """Stop, or log, there no more."""
        with self._hold.used(), self._shell.excused():
            if not isinstance(breakpoint_, Breakpoint):
                raise UsageError(f"{breakpoint_!r} is no breakpoint.", "Give what set_breakpoint or log has returned.")
            self._shell.breakpoints.remove(breakpoint_, self._shell.native)

    def missed(self, breakpoint_: Breakpoint) -> HarnessError:
        """Why an ended program has not come to a place: a ``UsageError`` where nothing that it loaded has it."""
        return self._shell.breakpoints.not_reached(breakpoint_)

    @property
    def unseen(self) -> str:
        """How an ended program left the debugger before its end, which was not seen then; empty where it did not."""
        return self._shell.breakpoints.reasons.unseen

    # --- going on -----------------------------------------------------------------------------------------------------

    def run_to(self, where: str | Where) -> Stop | None:
        """Run until ``where`` is reached (``fx:``, ``py:`` or ``native:``, with ``if CONDITION``).

        A signal or another stop on the way is returned as it comes, and so is a condition that raises: the stop's
        ``condition_failed`` and its ``note`` say so. Raises when the program ends before. Where nothing that the
        program has loaded or made has such a place, that is noted after a while, and waiting goes on.
        """
        with self._hold.used(runs=True):
            there = self.set_breakpoint(where)
            missing = Missing(there, self._shell.breakpoints, self._notes)
            stop = self._go("continue", missing) if self.exit_code is None else None
            if stop is None and not self._hold.given_up:
                raise self._shell.breakpoints.not_reached(there)
            self.clear_breakpoint(there)
            return stop

    def run_to_element(self, element: str) -> Stop | None:
        """Run on in a kernel of torch.compile's to where it computes an element of a node, as ``"gelu[2, 7]"`` says.

        Ends at the caller where that was computed before. Indices may count from the end; without a name, the node is
        the line's. Raises where the program stands in no such kernel, or in one that is optimized.
        """
        wanted = parse_element(words.word("element", element))
        with self._hold.used(runs=True):
            there = self._ask(lambda stop: places_of(self._shell, stop.thread, 0, stop.frame, wanted))
            points = [self.set_breakpoint(each) for each in there]
            try:
                return self._go("out")
            finally:
                for point in points if self.exit_code is None and not self._hold.given_up else ():
                    self.clear_breakpoint(point)

    def resume(self) -> Stop | None:
        """Run on."""
        return self._go("continue")

    def into(self) -> Stop | None:
        """Step into the first function of the user's, in either language, that the line runs."""
        return self._go("into")

    def into_native(self) -> Stop | None:
        """Step into the first native function of the user's that the line runs."""
        return self._go("into_native")

    def over(self) -> Stop | None:
        """Step to the next line."""
        return self._go("over")

    def out(self) -> Stop | None:
        """Step to the caller: another native frame of the user's, or the next line of their Python."""
        return self._go("out")

    def _go(self, request: Request, late: Callable[[], None] | None = None) -> Stop | None:
        with self._hold.used(runs=True):
            return self._go_on(request, late)

    def _go_on(self, request: Request, late: Callable[[], None] | None) -> Stop | None:
        self._require_alive()
        before, self.stop = self.stop, None
        origin = before.frame if before else None
        try:
            stopped = self._shell.go(request, late)
        except HarnessError:
            self.stop = before if self._shell.machine.focus is not None else None  # it could not even begin
            raise
        if stopped is not None:
            with self._shell.excused():
                self.stop = described(self._shell, stopped, origin)
        return self.stop

    def _require_open(self) -> None:
        self._hold.require_own()
        if not self._held.alive:
            raise HarnessError("This session is closed.", "Begin another: pyharness.debug or pyharness.attach.")

    def _require_alive(self) -> None:
        self._require_open()
        if self.exit_code is not None:
            raise self._ended()
        if self._hold.given_up:
            raise HarnessError("The program was let go.", "Attach to it again: pyharness.attach.")

    def _ended(self) -> HarnessError:
        return HarnessError(f"The program has ended (exit code {self.exit_code}).", "Start it again.")

    # --- looking ------------------------------------------------------------------------------------------------------

    def evaluate(self, expression: str, level: int = 0) -> str:
        """The text of an expression where the program stands.

        At a Python stop it is Python, at a native one a gdb expression, or Python's where gdb knows no such name. The
        prefixes ``py:`` and ``native:`` choose. ``level`` counts frames of that language outwards, from 0; at a native
        stop Python's are those of the user's own code.
        """
        checked_level(level, MAX_FRAMES)
        text = words.word("expression", expression)
        return self._ask(lambda stop: text_of(self._shell, stop, text, level))

    def stack(self) -> list[Frame]:
        """The stack of the thread that stopped, both languages merged, innermost first."""
        return self._ask(self._stack)

    def variables(self) -> dict[str, str]:
        """Arguments and local variables where the program stands, as text: of the stop's own frame."""
        return self._ask(self._variables)

    def _variables(self, stop: Stop) -> dict[str, str]:
        here = next((each for each in merged_stack(self._shell, stop.thread) if not each.frame.plumbing), None)
        return {each.name: each.value for each in variables_of(self._shell, here)} if here else {}

    def _stack(self, stop: Stop) -> list[Frame]:
        return [each.frame for each in merged_stack(self._shell, stop.thread) if each.thread == stop.thread]

    def transcripts(self) -> dict[str, list[str]]:
        """What was said with each debugger, for a bug report."""
        native = self._shell.native
        return {"debugpy": self._shell.python.transcript, "gdb": native.transcript if native else []}

    def _ask(self, question: Callable[[Stop], Answer]) -> Answer:
        """What is to be known of the stop; a program that was killed meanwhile is said to have ended."""
        with self._hold.used():
            if self.stop is None:
                self._require_alive()
                raise HarnessError("The program is not stopped.", "Run to a place first.")
            with self._shell.excused():
                return question(self.stop)
            raise self._ended()

"""A program that runs under both debuggers: the machine hears what they and it say, and they do what it answers."""

from __future__ import annotations

import queue
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from pyharness.debugger.changed_sources import ChangedSources
from pyharness.debugger.live.actions import Actions
from pyharness.debugger.live.agent import GilHeldError, ask_agent, asked_while_held
from pyharness.debugger.live.debugpy_events import DebugpyEvents
from pyharness.debugger.live.gdb_notices import GdbNotices
from pyharness.debugger.live.last_words import last_words, who_logs
from pyharness.debugger.live.libraries import Libraries
from pyharness.debugger.live.lifetime import Lifetime
from pyharness.debugger.live.long_steps import LongSteps
from pyharness.debugger.live.op_stops import OpStops
from pyharness.debugger.live.pausing import Pausing
from pyharness.debugger.live.program_messages import ProgramMessages
from pyharness.debugger.live.thread_names import ThreadNames
from pyharness.debugger.machine import Machine
from pyharness.debugger.native.in_program.ending import EndedError, crash_of
from pyharness.debugger.native.prepared_gdb import PreparedGdb
from pyharness.debugger.python.asking import CrashedError, StuckError
from pyharness.debugger.python.dap_client import RequestError
from pyharness.debugger.python.side import PythonSide
from pyharness.debugger.shell import Shell
from pyharness.debugger.starting import processes
from pyharness.debugger.starting.engine_first import EngineFirst
from pyharness.gdbmi.client import GdbLostError
from pyharness.host.process_state import has_ended, is_stopped, let_go_on
from pyharness.host.state import clear_after
from pyharness.model.errors import DebuggerLostError, HarnessError
from pyharness.model.evaluation import EVAL_TIMEOUT
from pyharness.model.text.imported_names import imports_others
from pyharness.model.transcript import Ended as ProgramEnded
from pyharness.model.user_code import UserCode
from pyharness.protocol.agent import AskDebugpy
from pyharness.protocol.channel import Go

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pyharness.debugger.action import Action, Request
    from pyharness.debugger.breaking.breakpoint import Breakpoint
    from pyharness.debugger.listener import Listener
    from pyharness.debugger.native.side import NativeSide
    from pyharness.debugger.shell import Events
    from pyharness.debugger.starting.target import Target
    from pyharness.gdbmi.records import Notice
    from pyharness.protocol.agent import Request as AgentRequest
    from pyharness.protocol.mi import Armed
    from pyharness.protocol.question import Answer

_STOP_SECONDS = 0.1
_HELD_SECONDS = 0.5
"""How long the end of a program is waited for of which gdb holds a thread: most likely the one that would end it."""
_DYING_SECONDS = 0.5
"""How much later than its program's end gdb's own may be heard of."""
_NOT_BEGUN = "The interpreter has not begun the program yet:"
_NOT_HEARD = "The program has not answered yet, as where native code keeps the GIL:"


class LiveShell(Shell):
    """Both debuggers, the program and the machine between them; all of it on the caller's thread, in ``pump``."""

    def __init__(  # noqa: PLR0913  (each is a thing a client may want to say)
        self,
        command: Target,
        included: Sequence[str],
        progress: Callable[[str], None],
        *,
        crashes: bool = False,
        eval_timeout: float = EVAL_TIMEOUT,
        events: Events | None = None,
        listener: Listener | None = None,
        gdb_scripts: Sequence[str] = (),
    ) -> None:
        command.check()
        heard: Events = events or queue.SimpleQueue()
        python = PythonSide(lambda event: heard.put(("debugpy", event)))
        super().__init__(Machine(), python, heard, listener)
        self._progress = progress
        self._late = _NOT_BEGUN if command.ours else _NOT_HEARD
        self._gdb = PreparedGdb(self._hear_gdb, UserCode.of(included), gdb_scripts)
        self._lifetime = lifetime = Lifetime()
        self._actions = Actions(self)
        self._pausing = Pausing(self, heard)
        self._long_steps = LongSteps(self, heard)
        self._thread_names = ThreadNames(self)
        python.deliver = self._deliver
        python.asking.seconds = eval_timeout
        self._engine = engine = EngineFirst(progress, lambda text: self._listener.output(f"{text}\n", "important"))
        added = command.env
        op_stops = OpStops(self, lambda: engine.have(lifetime.executable, added))
        self.breakpoints.tell_ops = op_stops.tell
        told = self._listener
        self._libraries = Libraries(self, self._actions, told, self._gdb, progress, crashes=crashes)
        self._notices = GdbNotices(self, told, self._libraries, op_stops, lambda: heard.put(("loaded", None)))
        self._debugpy = DebugpyEvents(self, told, lifetime, self._actions, self._ends)
        self._messages = ProgramMessages(
            self,
            told,
            lifetime,
            self._libraries,
            op_stops,
            self._gdb.user_code,
            lambda message: heard.put(("noted", message)),
        )
        self._messages.debug_kernels = command.debug_kernels
        self._messages.overwritten = command.overwritten
        try:
            self.process = command.start(
                lambda message: heard.put(("program", message)), lambda code: heard.put(("exit", code))
            )
        except BaseException:
            python.close()
            raise
        if crashes and imports_others(command.file):
            self._gdb.begin()  # it gets ready beside the interpreter: libraries are to come
        self.breakpoints.root = root = self.process.surroundings.root
        self.sources = ChangedSources.of_process(self.process.pid, root, self._tell_important)

    # --- what comes in ------------------------------------------------------------------------------------------------

    def _hear_gdb(self, notice: Notice | None) -> None:
        """Take a notice of gdb's on the thread that reads it.

        Whoever waits for an expression of Python's waits for its thread: one that crashed in it has ended it, and one
        that stopped in it goes on.
        """
        focus, asking = self.machine.focus, self.python.asking
        if notice and focus and self.native and self.native.link.thread_of(notice) == focus.thread:
            if crash := crash_of(notice):
                asking.crashed(crash)
            elif asking.runs:
                self.native.threads.pass_by(notice)
                return
        self._events.put(("gdb", notice))

    def _take(self, source: str, item: Any) -> bool:
        match source:
            case "program":
                self._messages.take(item)
            case "debugpy":
                self._debugpy.take(item)
            case "gdb":
                self._notices.take(item)
            case "exit":
                self._exited(item)
            case "pause":
                self._pausing.goes_on(item)
            case "noted":
                self.process.answer(Go(), item)
            case "loaded":
                self._notices.go_on()
            case "long step":
                self._long_steps.is_over(item)
            case _:
                return False
        return True

    def handle(self, source: str, item: Any) -> None:
        """Handle one event of the queue; a stop that waits for the end of a step does so for a while."""
        super().handle(source, item)
        self._long_steps.look()

    def _exited(self, code: int, told: Sequence[tuple[str, Any]] = ()) -> None:
        """Note the program's end, of which a person hears after its log lines; ``told`` came before."""
        logs = who_logs(self.breakpoints.enabled)
        logs -= {name for name, side in (("gdb", self.native), ("debugpy", self.python)) if not (side and side.alive)}
        for source, item in last_words(self._events, told, logs):
            if source == "gdb":
                self._notices.printed(item)
            elif item["event"] == "output":
                self._debugpy.output(item.get("body") or {})
        self.exit_code = code
        self.breakpoints.reasons.left_unseen = code >= 0 and (self._lifetime.replaced or not self._lifetime.ending)
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
                    self._messages.take(item)
                elif source in {"debugpy", "gdb", "noted", "loaded", "long step"}:
                    told.append((source, item))
                    if source == "gdb" and item is not None and item.kind == "stopped":
                        seconds = min(seconds, _HELD_SECONDS)
                elif source != "left":
                    self._listener.other(source, item)
        except queue.Empty:
            for event in told:
                self._events.put(event)
            return False

    def tell_late(self) -> None:
        """Tell what is waited for, where the program does not begin for long."""
        if not self._lifetime.executable:
            self._tell_once(f"{self._late} pyharness waits for it.", "important")

    # --- what goes out ------------------------------------------------------------------------------------------------

    def _deliver(self, command: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Send debugpy what changes breakpoints; in time even where a native stop keeps the GIL from its threads.

        Returns its answer, or ``{}`` where that cannot be waited for.
        """
        focus = self.machine.focus
        if focus is None:
            self._notices.go_on()  # it has the GIL; behind the import it waits for us, and passes no breakpoint
        if focus is None or focus.language == "python" or self.native is None:
            return self.python.request_in_time(command, arguments)
        crashed = focus.reason == "signal"  # nothing is called on its thread
        if crashed or not self.ask_any(AskDebugpy(command, arguments)):
            self.python.post(command, arguments)
        return {}

    def perform(self, actions: list[Action]) -> None:
        """Do what the machine says, in its order."""
        if actions:
            self._actions.perform(actions, has_libraries=self.loaded_user_libraries)

    def begin(self, request: Request) -> None:
        """Do what the client asks; debugpy may have left a program that a native stop kept from its end."""
        super().begin(request)
        self._long_steps.look()
        if self.machine.focus is None:
            self._debugpy.goes_on()

    def catch_up(self) -> None:
        """Handle what came while the program stood; one that gdb held ends by itself only where gdb has died."""
        stood = self.machine.focus
        super().catch_up()
        held = self.native if stood is not None and stood.language == "native" else None
        with self.excused():
            if held and self.exit_code is not None and held.link.ends(_DYING_SECONDS):
                raise GdbLostError("gdb")

    @property
    def armed(self) -> Armed:
        """What the last *into* armed."""
        return self._actions.armed

    def ask_agent(self, thread: int, request: AgentRequest[Answer]) -> Answer | None:
        """Ask the agent on a stopped thread; ``None`` where the program has none, or none any more."""
        return ask_agent(self.attach(), thread, request, lambda: self.machine.standing, self._turn)

    def ask_any(self, request: AgentRequest[Answer]) -> Answer | None:
        """Ask it on the thread that is stopped in native code, or on the one that has the GIL."""
        try:
            return super().ask_any(request)
        except GilHeldError as error:
            if not error.holder:
                raise
            return self.ask_owner(error.holder, request)

    def ask_owner(self, thread: int, request: AgentRequest[Answer]) -> Answer | None:
        """Ask it on a thread for which the one that stands works: it waits in native code, and is held meanwhile."""
        if thread in self.machine.standing:
            return self.ask_agent(thread, request)
        return asked_while_held(self.attach(), thread, lambda: self.ask_agent(thread, request))

    def _turn(self) -> None:
        with suppress(queue.Empty):
            self.handle(*self._events.get(timeout=_STOP_SECONDS))

    @property
    def is_ending(self) -> bool:
        """Whether the program is at its end, as far as it has said so, or beyond it."""
        return super().is_ending or self._lifetime.ending or has_ended(self.process.pid)

    def client_leaves(self) -> None:
        """End the build of an engine."""
        self._engine.left.set()

    def set_breakpoint(self, new: Breakpoint) -> None:
        """Stop, or log, there from now on; gdb is made for a native place, whose code may not be there yet."""
        if new.where.kind == "native":
            self._gdb.begin()
        super().set_breakpoint(new)
        self._libraries.look_for_functions()

    def pause(self, thread: int) -> None:
        """Stop the program: debugpy stops Python code at its next line; where none comes soon, gdb stops the thread."""
        self._gdb.begin()
        self._pausing.begin(thread)

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
            prepared.asking.ending.seconds = self.python.asking.seconds
            prepared.asking.on_interrupt = self.interrupt
            prepared.on_note = self._tell_once
            prepared.on_hint = self._tell_important
            stopped_before = is_stopped(self.process.pid)
            try:
                prepared.attach(self.process.pid, agent=self._lifetime.agent, guarded=self._lifetime.guarded)
            except HarnessError as error:
                within = _DYING_SECONDS if isinstance(error, GdbLostError) else 0
                let_go_on(self.process.pid, stopped_before=stopped_before, within=within)
                raise
            self.native = prepared
            prepared.load_symbols()
            self._listener.libraries(prepared)
        return self.native

    @property
    def loaded_user_libraries(self) -> bool:
        """Whether there is native code of the user's to look into."""
        return bool(self._libraries.paths)

    @property
    def tasks(self) -> dict[int, str]:
        """The threads of the program: LWP → the kernel's name."""
        return processes.tasks(self.process.pid)

    def thread_names(self, tasks: Mapping[int, str]) -> dict[int, str]:
        """What Python calls the threads of ``tasks``, by LWP; those of debuggers are empty."""
        return self._thread_names.of(tasks)

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
        if self.native and self.native.asking.unguarded:
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

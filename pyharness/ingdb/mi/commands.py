"""Handlers of the commands of ``protocol.mi``: what the controller asks of gdb beyond what MI has."""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import signal
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import gdb

from pyharness.ingdb import console
from pyharness.ingdb.calls import agent, guarded_call
from pyharness.ingdb.functions import kernel_build, native_names, trap_line
from pyharness.ingdb.functions.known_functions import innermost, is_own, is_own_line, is_within_own
from pyharness.ingdb.mi import alone, library_loads
from pyharness.ingdb.opening import attach
from pyharness.ingdb.process import libraries
from pyharness.ingdb.stack import backtrace, interpreter_loop, shared_work, unwritten
from pyharness.ingdb.stack.held_levels import HELD_LEVELS
from pyharness.ingdb.stops import every_function, handlers, inlined_way
from pyharness.model.codec import MalformedError, encode
from pyharness.model.errors import HarnessError
from pyharness.model.kernel_frames import is_kernel
from pyharness.model.user_code import is_user_source
from pyharness.protocol import mi
from pyharness.reading.process.memory import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyharness.model.frames import Frame

AnyCommand = TypeVar("AnyCommand", bound=mi.Command[Any])
_MODULES = (
    "asking",
    "breakpoints",
    "variables",
    "watch",
    "memory",
    "modules",
    "exceptions",
    "signals",
    "jump",
    "pauses",
    "complete",
    "set",
    "core",
    "console",
)
"""The other modules of this folder with commands, which they register when they are imported."""
_NEAR = 40
"""Frames of a stack in which the Python that called a kernel is."""
_HANDLERS: dict[type[mi.Command[Any]], Callable[[Any], Any]] = {}


def handles(command: type[AnyCommand]) -> Callable[[Callable[[AnyCommand], Any]], Callable[[AnyCommand], Any]]:
    """Register a function as the handler of a command; a second one for it is a mistake."""

    def register_handler(handler: Callable[[AnyCommand], Any]) -> Callable[[AnyCommand], Any]:
        if command in _HANDLERS:
            raise ValueError(f"two handlers for -{command.tag}")
        _HANDLERS[command] = handler
        return handler

    return register_handler


class _Registered(gdb.MICommand):
    """One command as gdb knows it; ``protocol.mi`` says how it is written."""

    def __init__(self, command: type[mi.Command[Any]], handler: Callable[[Any], Any]) -> None:
        super().__init__(f"-{command.tag}")
        self._command = command
        self._handler = handler

    def invoke(self, argv: list[str]) -> dict[str, object]:
        text = argv[0] if argv else "{}"
        how, thread = argv[1:] or ("", "0")
        try:
            request = self._command.from_json(json.loads(text))
            if how == "standing" and not select(int(thread)).is_stopped():
                return {"runs": "yes"}
            with HELD_LEVELS.held(int(thread) if how == "held" else 0):
                return {"json": json.dumps(encode(self._handler(request)))}
        except UnicodeDecodeError as error:
            raise gdb.GdbError(_no_text(error.object)) from error
        except (HarnessError, MalformedError, json.JSONDecodeError, gdb.error) as error:
            raise gdb.GdbError(str(error)) from error


def _no_text(name: bytes) -> str:
    """What gdb's Python cannot read: it takes the names of files for UTF-8."""
    return (
        f"gdb cannot tell Python a name that is no UTF-8: {name.decode(errors='backslashreplace')}.\n"
        "Rename what it is of, a folder perhaps."
    )


def register() -> None:
    """Make the commands known to gdb."""
    for module in _MODULES:  # they need this module
        importlib.import_module(f"pyharness.ingdb.mi.{module}")
    for command, handler in _HANDLERS.items():
        _Registered(command, handler)
    gc.freeze()  # as load.py does


def select(lwp: int) -> gdb.InferiorThread:
    """Switch to a thread."""
    for thread in gdb.selected_inferior().threads():
        if thread.ptid[1] == lwp:
            thread.switch()
            return thread
    raise gdb.GdbError(f"The program has no thread {lwp}.")


@handles(mi.Attach)
def _attach(request: mi.Attach) -> tuple[int, ...]:
    _wake_at_the_end(request.pid)
    alone.attached(request.pid, guarded=request.guarded)
    agent.tell(request.agent)
    attach.attach(request.pid, non_stop=True)
    return tuple(thread.ptid[1] for thread in gdb.selected_inferior().threads())


def _wake_at_the_end(pid: int) -> None:
    """Let the program run on when gdb has to go while it is attached: a SIGSTOP of the attach may still be on its way.

    That is so when the controller was killed; else it has detached before.
    """

    def ending(_event: object) -> None:
        if gdb.selected_inferior().pid == pid:
            atexit.register(_continue, pid)

    if hasattr(gdb.events, "gdb_exiting"):  # since gdb 12
        gdb.events.gdb_exiting.connect(ending)


def _continue(pid: int) -> None:
    with suppress(OSError):
        os.kill(pid, signal.SIGCONT)


@handles(mi.LoadSymbols)
def _load_symbols(_request: mi.LoadSymbols) -> tuple[str, ...]:
    return tuple(str(library) for library in libraries.load_user_symbols())


@handles(mi.Threads)
def _threads(_request: mi.Threads) -> dict[str, int]:
    return {str(thread.global_num): thread.ptid[1] for thread in gdb.selected_inferior().threads()}


@handles(mi.Delete)
def _delete(request: mi.Delete) -> None:
    for breakpoint_ in gdb.breakpoints():
        if breakpoint_.number in request.numbers:
            breakpoint_.delete()


@handles(mi.Arm)
def _arm(request: mi.Arm) -> mi.Armed:
    thread = select(request.thread)
    return every_function.plant_for(thread) if alone.outlives_breakpoints() else every_function.arm(thread)


@handles(mi.ArmReturn)
def _arm_return(request: mi.ArmReturn) -> bool:
    return every_function.arm_return(select(request.thread), request.stdlib)


@handles(mi.ArmHandlers)
def _arm_handlers(request: mi.ArmHandlers) -> tuple[int, ...]:
    return _next_step(request.thread, request.level, leaves=request.leaves)


def _armed_by_the_way(lwp: int, level: int = 0, *, leaves: bool = False) -> tuple[int, ...] | None:
    """``None`` where that cannot be: what was asked is answered all the same."""
    try:
        return _next_step(lwp, level, leaves=leaves)
    except (gdb.error, gdb.GdbError, UnreadableError):
        return None


def _next_step(lwp: int, level: int = 0, *, leaves: bool = False) -> tuple[int, ...]:
    thread = select(lwp)
    library_loads.steps(thread)
    (inlined_way.leave if leaves and not level else inlined_way.forget)()
    return tuple(handlers.arm(thread, level, leaves=leaves))


@handles(mi.WatchLoads)
def _watch_loads(_request: mi.WatchLoads) -> int:
    return library_loads.watch()


@handles(mi.DisarmHandlers)
def _disarm_handlers(_request: mi.DisarmHandlers) -> None:
    handlers.disarm()
    library_loads.runs()


@handles(mi.Trap)
def _trap(request: mi.Trap) -> mi.TrapHit:
    select(request.thread)
    return every_function.at_trap(request.how)


@handles(mi.IsSentTrap)
def _is_sent_trap(request: mi.IsSentTrap) -> bool:
    select(request.thread)
    return every_function.is_sent_trap()


@handles(mi.IsOfCall)
def _is_of_call(request: mi.IsOfCall) -> bool:
    select(request.thread)
    return guarded_call.was_signalled()


@handles(mi.ResumeWithTrap)
def _resume_with_trap(request: mi.ResumeWithTrap) -> None:
    select(request.thread)
    if request.command == "continue":
        console.resume("signal SIGTRAP")
        return
    console.run(f"frame {request.level}")
    # Passed while this thread is resumed, and no longer: to gdb a planted trap is a SIGTRAP as well.
    console.run("handle SIGTRAP stop print pass")
    try:
        console.run("queue-signal SIGTRAP")
        console.resume(request.command)
    finally:
        console.run("handle SIGTRAP stop print nopass")


@handles(mi.PassTraps)
def _pass(request: mi.PassTraps) -> None:
    if request.again:
        every_function.plant()


@handles(mi.Disarm)
def _disarm(request: mi.Disarm) -> tuple[int, ...] | None:
    every_function.disarm()
    return _armed_by_the_way(request.thread) if request.thread else None


@handles(mi.Where)
def _where(request: mi.Where) -> mi.Location:
    select(request.thread)
    frame, file, line = innermost()
    name, library = native_names.name_of(frame)
    stop = trap_line.current_line() if name == trap_line.FUNCTION else None
    if stop and stop.native:
        note = f"{stop.notes[0]}, called from {stop.file}:{stop.line}" if stop.file else stop.notes[0]
        return mi.Location(stop.native.name, None, None, None, user=True, note=note)
    is_left = inlined_way.is_left()
    inlined = file is not None and is_within_own(frame) and is_left
    note = _changed_at(frame.pc()) if file else ""
    own = is_own_line(frame.pc(), file, name) and is_left
    shown = _in_kernel(file, line)
    name, fx = (shown.function, shown.fx) if shown else (name, None)
    hint = kernel_build.hint_at(frame) if shown else ""
    return mi.Location(name, library, file, line, user=own, inlined=inlined, note=note, fx=fx, hint=hint)


def _in_kernel(file: str | None, line: int | None) -> Frame | None:
    """The frame of a kernel of inductor's that the selected thread stands in, as the stack has it."""
    if not file or not is_kernel(file):
        return None
    frames = backtrace.merged_stack(limit=_NEAR)
    return next((each for each in frames if (each.file, each.line) == (file, line)), None)


@handles(mi.FindCaller)
def _find_caller(request: mi.FindCaller) -> mi.Caller:
    select(request.thread)
    caller = _caller()
    if not request.arms or caller.language != "native":
        return caller
    return replace(caller, handlers=_armed_by_the_way(request.thread, caller.level - 1, leaves=True))


def _caller() -> mi.Caller:
    """Who called the selected thread's code.

    Of an inlined frame gdb can only finish the innermost: the way to a native caller may end within inlined code of
    torch's, and goes on from there.
    """
    here = innermost()[0]
    finishable, frame = here.level(), here.older()
    for level in range(finishable + 1, mi.MAX_FRAMES):
        if frame is None:
            break
        if is_own(frame) and not kernel_build.is_rest_of_kernel(frame, here):
            alone = finishable == here.level() and here.type() != gdb.INLINE_FRAME
            return mi.Caller("native", finishable + 1, native_names.name_of(here)[0] if alone else "")
        if frame.type() != gdb.INLINE_FRAME:
            finishable = level
        if interpreter_loop.runs_python(frame):
            return mi.Caller("python")
        frame = frame.older()
    return mi.Caller("none")


@handles(mi.Stack)
def _stack(request: mi.Stack) -> mi.MergedStack:
    thread = select(request.thread)
    frames = backtrace.merged_stack(thread, limit=request.limit)
    if HELD_LEVELS.is_held(request.thread):
        HELD_LEVELS.tell(backtrace.frames_in_order(thread, handles=False)[0])
    else:
        HELD_LEVELS.forget(request.thread)
    holder = backtrace.level_with(thread, request.holding) if request.holding else 0
    here = frames[0].address if frames and frames[0].language == "native" and frames[0].file else None
    note = _changed_at(here) or kernel_build.hint_at(innermost()[0]) if here else ""
    left_out = backtrace.left_out(frames, request.limit)
    sources = tuple(mi.SourceText(file, text) for file, text in unwritten.news().items())
    return mi.MergedStack(tuple(frames), _caller_in(frames), note, left_out, sources, holder)


@handles(mi.FindOwners)
def _find_owners(request: mi.FindOwners) -> tuple[mi.Owner, ...]:
    return shared_work.owners(select(request.thread))


def _changed_at(address: int) -> str:
    """What to know of the lines of a library that is not as the program loaded it."""
    changed = libraries.changed_at(address)
    return f"{changed}: these are the lines that it had" if changed else ""


def _caller_in(frames: Sequence[Frame]) -> mi.Caller | None:
    """Who called the code of the user's that is on top of a stack."""
    if not frames or frames[0].language == "python" or not _is_own(frames[0]):
        return None
    ends = (frame for frame in frames[1:] if frame.language == "python" or _is_own(frame))
    caller = next(ends, None)
    return mi.Caller("python") if caller and caller.language == "python" else _caller()


def _is_own(frame: Frame) -> bool:
    return is_user_source(frame.file) and not frame.plumbing

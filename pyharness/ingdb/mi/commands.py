"""MI commands of our own: what the controller asks of gdb beyond what MI has. JSON in, JSON out."""

from __future__ import annotations

import atexit
import importlib
import json
import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import gdb

from pyharness.ingdb import (
    agent,
    attach,
    call_gate,
    ending,
    expressions,
    libraries,
    native_names,
    torch_process,
    trap_line,
)
from pyharness.ingdb.known_functions import innermost, is_within_own
from pyharness.ingdb.mi import alone
from pyharness.ingdb.stack import backtrace
from pyharness.ingdb.stops import stop_at_functions
from pyharness.ingdb.tensors import values as tensor_values
from pyharness.ingdb.tensors.format import one_line
from pyharness.model.errors import HarnessError
from pyharness.model.user_code import is_user_source

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyharness.model.frames import Frame

    Handler = Callable[[dict[str, Any]], Any]

_MODULES = ("variables", "watch", "memory", "modules", "exceptions", "signals", "jump", "complete", "set", "core")
"""The other modules of this folder with commands, which they register when they are imported."""
_MAX_FRAMES = 400
_HANDLERS: dict[str, Handler] = {}


def mi_command(name: str) -> Callable[[Handler], Handler]:
    """Register a function as the MI command ``-NAME``; a second one of the same name is a mistake."""

    def register_handler(handler: Handler) -> Handler:
        if name in _HANDLERS:
            raise ValueError(f"two handlers for -{name}")
        _HANDLERS[name] = handler
        return handler

    return register_handler


class _Command(gdb.MICommand):
    """``-NAME "JSON"`` → ``^done,json="..."``.

    A request with ``"standing": LWP`` is about a thread that stands; where that runs the answer is ``runs="yes"``.
    """

    def __init__(self, name: str, handler: Handler) -> None:
        super().__init__(f"-{name}")
        self._handler = handler

    def invoke(self, argv: list[str]) -> dict[str, object]:
        request = json.loads(argv[0]) if argv else {}
        standing = request.pop("standing", None)
        try:
            if standing is not None and not select({"thread": standing}).is_stopped():
                return {"runs": "yes"}
            return {"json": json.dumps(self._handler(request))}
        except (HarnessError, gdb.error) as error:
            raise gdb.GdbError(str(error)) from error


def register() -> None:
    """Make the commands known to gdb."""
    for module in _MODULES:  # they need this module
        importlib.import_module(f"pyharness.ingdb.mi.{module}")
    for name, handler in _HANDLERS.items():
        _Command(name, handler)


def select(request: dict[str, Any]) -> gdb.InferiorThread:
    """Switch to the thread that a request names by its LWP."""
    for thread in gdb.selected_inferior().threads():
        if thread.ptid[1] == request["thread"]:
            thread.switch()
            return thread
    raise gdb.GdbError(f"The program has no thread {request['thread']}.")


@mi_command("ph-attach")
def _attach(request: dict[str, Any]) -> Any:
    _wake_at_the_end(request["pid"])
    alone.attached(request["pid"])
    attach.attach(request["pid"], non_stop=True)
    return [thread.ptid[1] for thread in gdb.selected_inferior().threads()]


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


@mi_command("ph-load-symbols")
def _load_symbols(_request: dict[str, Any]) -> Any:
    return [str(library) for library in libraries.load_user_symbols()]


@mi_command("ph-threads")
def _threads(_request: dict[str, Any]) -> Any:
    return {str(thread.global_num): thread.ptid[1] for thread in gdb.selected_inferior().threads()}


@mi_command("ph-break")
def _break(request: dict[str, Any]) -> Any:
    return stop_at_functions.set_breakpoint(request)


@mi_command("ph-delete")
def _delete(request: dict[str, Any]) -> Any:
    for breakpoint_ in gdb.breakpoints():
        if breakpoint_.number in request["numbers"]:
            breakpoint_.delete()
    return None


@mi_command("ph-arm")
def _arm(request: dict[str, Any]) -> Any:
    thread = select(request)
    if not request.get("guarded"):
        return stop_at_functions.arm(thread)
    return stop_at_functions.plant(gdb.newest_frame().pc() if thread.is_stopped() else 0)


@mi_command("ph-arm-return")
def _arm_return(request: dict[str, Any]) -> Any:
    return {"armed": stop_at_functions.arm_return(select(request), request["stdlib"])}


@mi_command("ph-trap")
def _trap(request: dict[str, Any]) -> Any:
    """Whether a thread stands at a trap of ``ph-arm``; if so its pc is put right."""
    select(request)
    return {"ours": stop_at_functions.at_trap(lift=request["lift"])}


@mi_command("ph-pass")
def _pass(request: dict[str, Any]) -> Any:
    """A thread has passed the traps that were lifted for it."""
    if request["again"]:
        stop_at_functions.plant()
    return None


@mi_command("ph-disarm")
def _disarm(_request: dict[str, Any]) -> Any:
    stop_at_functions.disarm()
    return None


@mi_command("ph-where")
def _where(request: dict[str, Any]) -> Any:
    """Where a thread stopped: function, file, line, whether that is the user's code, or inlined into it."""
    select(request)
    frame, file, line = innermost()
    name, library = native_names.name_of(frame)
    stop = trap_line.current_line() if name == trap_line.FUNCTION else None
    if stop and stop.native:
        note = f"{stop.notes[0]}, called from {stop.file}:{stop.line}" if stop.file else stop.notes[0]
        return {**dict.fromkeys(("library", "file", "line")), "function": stop.native.name, "user": True, "note": note}
    return {
        "function": name,
        "library": library,
        "file": file,
        "line": line,
        "user": is_user_source(file),
        "inlined": file is not None and is_within_own(frame),
    }


@mi_command("ph-caller")
def _caller(request: dict[str, Any]) -> Any:
    """Who called the user's native code: see ``_calls``."""
    select(request)
    return _calls()


def _calls() -> dict[str, Any]:
    """Who called the selected thread's code: ``{"language": "native", "level": N}``, ``"python"`` or ``"none"``.

    Of a native caller ``N - 1`` is a frame that gdb can finish: of an inlined one it can only finish the innermost. So
    the way to a caller may end within inlined code of torch's, and goes on from there.
    """
    here = innermost()[0]
    finishable, frame = here.level(), here.older()
    for level in range(finishable + 1, _MAX_FRAMES):
        if frame is None:
            break
        place = frame.find_sal()
        if place.symtab and is_user_source(place.symtab.fullname()):
            return {"language": "native", "level": finishable + 1}
        if frame.type() != gdb.INLINE_FRAME:
            finishable = level
        if native_names.name_of(frame)[0].startswith("_PyEval_EvalFrame"):
            return {"language": "python", "level": 0}
        frame = frame.older()
    return {"language": "none", "level": 0}


@mi_command("ph-stack")
def _stack(request: dict[str, Any]) -> Any:
    """The merged stack; in code of the user's also who called it, which a step out asks for next."""
    thread = select(request)
    frames = backtrace.merged_stack(thread, limit=request.get("limit", _MAX_FRAMES))
    return {
        "frames": [{**frame.to_json(), "address": frame.address} for frame in frames],
        "caller": _caller_in(frames),
    }


def _caller_in(frames: list[Frame]) -> dict[str, Any] | None:
    """As ``_calls``, for code of the user's."""
    if not frames or frames[0].language == "python" or not is_user_source(frames[0].file):
        return None
    ends = (frame for frame in frames[1:] if frame.language == "python" or is_user_source(frame.file))
    caller = next(ends, None)
    return {"language": "python", "level": 0} if caller and caller.language == "python" else _calls()


@mi_command("ph-evaluate")
def _evaluate(request: dict[str, Any]) -> Any:
    """The text of a gdb expression in the newest frame, or in frame ``level``."""
    select(request)
    frame = gdb.newest_frame()
    for _ in range(request.get("level", 0)):
        frame = frame.older() or frame
    frame.select()
    if address := trap_line.tensor_address(request["expression"]):
        return one_line(torch_process.read, tensor_values.tensor_at(address))
    with ending.possible():
        return tensor_values.value_text(expressions.evaluate(request["expression"]))


@mi_command("ph-agent")
def _agent(request: dict[str, Any]) -> Any:
    thread = select(request)
    holder = call_gate.stopped_gil_holder(thread)
    if holder or call_gate.a_stop_is_coming():
        return {"later": True, "holder": holder}
    return agent.call(request["request"])

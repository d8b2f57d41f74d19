"""ph-into, ph-over, ph-out: steps that cross between Python and the person's native code, in a gdb that is alone."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING

import gdb

from pyharness.ingdb.calls import agent
from pyharness.ingdb.functions.kernel_build import is_rest_of_kernel
from pyharness.ingdb.functions.known_functions import is_own, known_functions
from pyharness.ingdb.functions.trap_line import PythonLine, current_line
from pyharness.ingdb.process import libraries
from pyharness.ingdb.prompt import stops, trap
from pyharness.ingdb.prompt.registry import command
from pyharness.ingdb.stack.backtrace import frames_in_order, handle_of
from pyharness.ingdb.stack.interpreter_loop import runs_python
from pyharness.ingdb.stops import every_function
from pyharness.model.errors import HarnessError, UsageError, nearest
from pyharness.protocol.agent import ArmStep, CancelStep
from pyharness.reading.functions.function_name import matches
from pyharness.reading.stack.merge import NativeFrame

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_FRAMES = 1000


@command("ph-into")
def ph_into(argument: str) -> None:
    """Step into your own code, in either language: the first native or Python function of yours that this line runs.

    ph-into [native | FUNCTION]

    If the line runs none, the step ends at the next line and says so. `native` passes over Python functions. FUNCTION,
    a native one of yours (qualified or its last part), passes over everything else that this line, or in native code
    the rest of this function, runs before it.
    """
    python = _stopped()
    function = "" if argument == "native" else argument
    with _functions_armed(function):
        _step("over" if argument else "in", python, "finish" if function else "next")
    stops.report(_why_not_inside(python, argument))


@command("ph-over")
def ph_over(_argument: str) -> None:
    """Go on to the next line of this function, in Python or native code, or of whoever called it."""
    _step("over", _stopped())
    stops.report()


@command("ph-out")
def ph_out(argument: str) -> None:
    """Go on until this function has returned to the code of yours that called it, in either language.

    ph-out [python]

    `python` leaves native code altogether: on to the next line of the Python function that called it.
    """
    if argument not in {"", "python"}:
        raise UsageError(f"ph-out takes nothing or 'python', not {argument!r}.")
    python = _stopped()
    with _python_step("out" if python else "over"):
        if python:
            with nullcontext() if argument else _native_caller_stops(python):
                stops.resume()
        else:
            here = gdb.newest_frame()
            _leave_native(here.older(), here, to_python=bool(argument))
    stops.report()


@contextmanager
def _native_caller_stops(line: PythonLine) -> Iterator[None]:
    """Have the program stop where the Python code returns to native code of the user's that called it.

    Python of the user's may have called it, below that native code: where the step ends in that, it comes first.
    """
    libraries.load_user_symbols()
    called = _called_by_native(line)
    back = gdb.FinishBreakpoint(called, internal=True) if called is not None else None
    try:
        if back is not None:
            back.silent = True
        yield
    finally:
        if back is not None and back.is_valid():
            back.delete()


def _called_by_native(line: PythonLine) -> gdb.Frame | None:
    """What the innermost native code of the user's called below which the Python function of ``line`` runs."""
    frames, _ = frames_in_order(gdb.selected_thread(), _MAX_FRAMES)
    stands = False
    for frame in frames:
        if not isinstance(frame, NativeFrame):
            stands = stands or (frame.file, frame.function) == (line.file, line.function)
        elif stands and is_own(handle := handle_of(frame)):
            return handle.newer()
    return None


def _stopped() -> PythonLine | None:
    """The Python line at which the program is stopped, ``None`` in native code; an error if it is not running."""
    if gdb.selected_thread() is None:
        raise HarnessError("The program is not being run.", "Start it with ph-run, or ph-attach to one.")
    trap.watch()
    return current_line()


def _step(mode: str, python: PythonLine | None, native: str = "next") -> None:
    with _python_step(mode):
        if python:
            stops.resume()
            return
        if native == "finish":
            _physical(gdb.newest_frame()).select()
        stops.resume(native)
        frame = gdb.newest_frame()
        if current_line() is None and not is_own(frame) and not stops.interrupted():
            _leave_native(frame, frame)


def _physical(frame: gdb.Frame) -> gdb.Frame:
    """The frame of the function into which ``frame`` is inlined."""
    while frame.type() == gdb.INLINE_FRAME:
        older = frame.older()
        if older is None:
            break
        frame = older
    return frame


@contextmanager
def _python_step(mode: str) -> Iterator[None]:
    """Have the program stop at the Python line at which a step of this thread ends, whatever stops it first."""
    try:
        armed = agent.call(ArmStep(mode))
    except agent.NoAgentError:
        if current_line() is not None:
            raise
        armed = False  # native code can be stepped without the program's help
    yield
    line = current_line()
    if armed and (line is None or not line.step):
        with suppress(agent.NoAgentError):
            agent.call(CancelStep())


@contextmanager
def _functions_armed(name: str) -> Iterator[None]:
    """Breakpoints at all of the person's native functions, or at those called ``name``, for the selected thread."""
    libraries.load_user_symbols()
    own = _stops_at(name) if name else []
    if not name:
        every_function.arm(gdb.selected_thread())
    try:
        yield
    finally:
        every_function.disarm()
        for each in own:
            each.delete()


def _stops_at(name: str) -> list[gdb.Breakpoint]:
    known = known_functions()
    wanted = [function for function in known if matches(function.name, name)]
    if not wanted:
        near = nearest(name, [function.name.rsplit("::", 1)[-1] for function in known])
        raise UsageError(f"Your native code has no function {name!r}.", near)
    made = [gdb.Breakpoint(f"*{function.stop_address:#x}", internal=True) for function in wanted]
    for each in made:
        each.silent, each.thread = True, gdb.selected_thread().global_num
    return made


def _leave_native(frame: gdb.Frame | None, left: gdb.Frame, *, to_python: bool = False) -> None:
    """Run on to the person's frame that is at ``frame`` or calls it, and is not of the kernel that is ``left``."""
    for _ in range(_MAX_FRAMES):
        if frame is None:
            break
        if is_own(frame) and not to_python and not is_rest_of_kernel(frame, left):
            _return_to(frame)
            return
        if runs_python(frame):
            if not agent.read_symbols():
                raise HarnessError(
                    "Python called this, and gdb cannot stop at its lines.",
                    "Start the program with ph-run, or as `python -m pyharness.debuggee SCRIPT`.",
                )
            stops.resume()
            return
        frame = frame.older()
    raise HarnessError("No code of yours called this: it is the start of a thread.", "Go on with `continue`.")


def _return_to(frame: gdb.Frame) -> None:
    """Run on until everything that ``frame`` called has returned."""
    called = frame.newer()
    while called is not None and called.type() == gdb.INLINE_FRAME:  # gdb steps out of these, it does not finish them
        called = called.newer()
    if called is not None:
        called.select()
        stops.resume("finish")
    for _ in range(_MAX_FRAMES):
        newest = gdb.newest_frame()
        if stops.interrupted() or newest.type() != gdb.INLINE_FRAME or is_own(newest):
            return
        stops.resume("finish")


def _why_not_inside(before: PythonLine | None, wanted: str) -> str:
    """What to say of an *into* that did not go inside."""
    after = current_line()
    if before is None or after is None or after.stops:
        return ""
    if (after.file, after.function) == (before.file, before.function):
        what = {"": "function", "native": "native function"}.get(wanted, f"function {wanted}")
        return f"line {before.line} ran no {what} of yours; this is the next line."
    return ""

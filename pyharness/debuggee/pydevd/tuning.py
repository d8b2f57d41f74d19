"""What debugpy does better in a program with the harness beside it, however it came there."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.link import quiet_thread
from pyharness.debuggee.pydevd import ending_threads
from pyharness.debuggee.pydevd.emptied_modules import KEPT_MODULES
from pyharness.debuggee.pydevd.frames import main_interpreter, quick_import
from pyharness.debuggee.pydevd.frames.trace_function import set_trace
from pyharness.debuggee.pydevd.steps import (
    compilation,
    library_imports,
    passed_returns,
    returned,
    stepping,
    unwound_steps,
)
from pyharness.debuggee.pydevd.steps.task_steps import STEPS
from pyharness.debuggee.pydevd.stops import (
    beginning_threads,
    going_on,
    interrupted_waits,
    library_stacks,
    seen_error,
    simultaneous,
    suspended_greenlets,
    woken,
)
from pyharness.debuggee.pydevd.stops.asked_files import ASKED_FILES
from pyharness.debuggee.pydevd.stops.conditions import Conditions
from pyharness.debuggee.pydevd.stops.opened_files import open_files
from pyharness.debuggee.pydevd.values import evaluation as pydevd_evaluation
from pyharness.debuggee.pydevd.values import frame_variables, presentation
from pyharness.debuggee.watched.imports import after_import
from pyharness.host import recursion
from pyharness.model.glue import is_written_by_swig

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from types import FrameType, ModuleType, TracebackType

_MARK = "pyharness_spared"
_UNABLE = _NEVER = -1


def tune(debugger: Any) -> None:
    """Have pydevd show torch's objects, step as told, stop where a condition raises, and open no notifications."""
    presentation.register()
    pydevd_evaluation.bound()
    unwound_steps.watch()
    frame_variables.watch()
    ending_threads.watch()
    quick_import.watch()
    library_imports.watch()
    compilation.watch()
    open_files(debugger)
    conditions = Conditions(debugger)
    debugger.handle_breakpoint_condition = conditions.hold
    debugger.handle_breakpoint_expression = conditions.express
    simultaneous.Stops(debugger).watch()
    debugger.apply_files_filter = _without_glue(debugger.apply_files_filter)
    library_stacks.watch(debugger)
    debugger.exclude_exception_by_filter = _with_asked(debugger.exclude_exception_by_filter)
    debugger.do_wait_suspend = _with_steps_begun(debugger.do_wait_suspend)
    for name in ("set_suspend", "do_wait_suspend"):  # a stop begins with one of them
        setattr(debugger, name, _with_modules_and_room(getattr(debugger, name)))
    interrupted_waits.watch(debugger)
    passed_returns.watch(debugger)
    suspended_greenlets.watch(debugger)
    stepping.watch(debugger)  # before all others: where it passes by nobody stands
    beginning_threads.watch(debugger)
    woken.watch(stepping.is_armed, simultaneous.let_go)
    _spare_threads()
    _hold_while_shown()
    _advise_nothing()
    _make_up_no_source()
    after_import("torch._dynamo.trace_rules", _leave_uncompiled)
    _log_nothing()
    if os.environ.get("PYTHONBREAKPOINT"):  # the person says what breakpoint() is to do: 0 is nothing
        sys.breakpointhook = sys.__breakpointhook__
    debugger.notify_skipped_step_in_because_of_filters = _nothing  # VS Code would open a notification


def _leave_uncompiled(rules: ModuleType) -> None:
    """torch.compile takes what debuggers run at a line of a function that it compiles for a part of that function."""
    for name in ("debugpy", "pyharness.debuggee"):
        with suppress(Exception):  # torch's own rules: not there in each version
            rules.add(name)


def _log_nothing() -> None:
    """pydevd's remarks to its developers would be on the program's stderr; its own variables still ask for them."""
    from _pydev_bundle.pydev_log import _LoggingGlobals
    from _pydevd_bundle.pydevd_constants import NULL

    if not {"PYDEVD_DEBUG", "PYDEVD_DEBUG_FILE"}.intersection(os.environ):
        _LoggingGlobals._debug_stream, _LoggingGlobals._debug_stream_initialized = NULL, True


def _hold_while_shown() -> None:
    """pydevd would let all threads go after three seconds of showing variables, and stop them again: false stops.

    What shows a variable is bounded by us (``bounded.py``).
    """
    from _pydevd_bundle import pydevd_comm

    name = "PYDEVD_UNBLOCK_THREADS_ON_VARIABLES_TIMEOUT"
    if hasattr(pydevd_comm, name):  # from debugpy 1.8.21 on
        setattr(pydevd_comm, name, _NEVER)


def _advise_nothing() -> None:
    """pydevd says which variable took long to show, and advises a variable of its own against saying so."""
    from _pydevd_bundle.pydevd_utils import Timer

    for name in ("_compute_repr_slow", "_compute_get_attr_slow"):
        if compute := getattr(Timer, name, None):
            setattr(Timer, name, _first_line(compute))


def _make_up_no_source() -> None:
    """pydevd shows bytecode where a file is gone, as if it were its lines; with ``-O`` its loop for that never ends."""
    from _pydevd_bundle import pydevd_api

    pydevd_api.code_to_bytecode_representation = _no_text


def _no_text(*_: object, **__: object) -> str:
    return ""


def _first_line(compute: Callable[..., str]) -> Callable[..., str]:
    def stands_for(*arguments: Any) -> str:
        return compute(*arguments).partition("\n")[0].removeprefix("pydevd warning: ") + "\n"

    return stands_for


def _spare_threads() -> None:
    """pydevd starts a thread whenever it traces others, which only Python 3.9 has a use for.

    Python ends with a crash where one begins at that moment; and one that has no memory to begin is waited for, for
    ever: pydevd then traces more slowly, as where its library is missing.
    """
    import pydevd_tracing

    if hasattr(pydevd_tracing, _MARK):
        return
    setattr(pydevd_tracing, _MARK, True)
    original = pydevd_tracing.set_trace_to_threads
    main_interpreter.watch()
    if sys.version_info >= (3, 10):  # noqa: UP036  (programs run on 3.9, too)
        pydevd_tracing.pydev_monkey = _Here(pydevd_tracing.pydev_monkey)

    def set_trace_to_threads(*arguments: Any, **named: Any) -> Any:
        if quiet_thread.lacks_memory():
            return _UNABLE
        with quiet_thread.signals_blocked():
            return original(*arguments, **named)

    pydevd_tracing.set_trace_to_threads = set_trace_to_threads


class _Here:
    """The module that starts threads for pydevd's tracing, which does here what a thread would do."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)

    @staticmethod
    def get_original_start_new_thread(_module: ModuleType) -> Callable[..., None]:
        """What runs a function on this thread, and leaves the thread's trace function as it was."""

        def run(function: Callable[..., None], arguments: tuple[Any, ...]) -> None:
            before = sys.gettrace()
            try:
                function(*arguments)
            finally:
                set_trace(before)

        return run


def _with_modules_and_room(function: Callable[..., Any]) -> Callable[..., Any]:
    def stands_for(*arguments: Any, **named: Any) -> Any:
        KEPT_MODULES.put_back()
        with recursion.room():
            return function(*arguments, **named)

    return stands_for


def _without_glue(excludes: Callable[..., bool]) -> Callable[..., bool]:
    def stands_for(frame: FrameType, file: str, *arguments: Any, **named: Any) -> bool:
        if frame.f_code.co_filename in ASKED_FILES.names:
            return False
        return excludes(frame, file, *arguments, **named) or is_written_by_swig(file)

    return stands_for


def _with_asked(excludes: Callable[..., bool]) -> Callable[..., bool]:
    def stands_for(exception: Any, trace: TracebackType | None) -> bool:
        if trace is not None and trace.tb_frame.f_code.co_filename in ASKED_FILES.names:
            return False
        return excludes(exception, trace)

    return stands_for


def _with_steps_begun(wait: Callable[..., Any]) -> Callable[..., Any]:
    def stands_for(thread: threading.Thread, frame: FrameType, event: str, arg: Any, *more: Any, **named: Any) -> Any:
        STEPS.stands()
        going_on.tell_stop()
        seen_error.note(event, arg)
        with returned.kept(frame, event, arg):
            outcome = wait(thread, frame, event, arg, *more, **named)
        unwound_steps.begins(thread, frame)
        going_on.tell(thread)
        return outcome

    return stands_for


def _nothing(*_arguments: Any) -> None:
    """Say nothing."""

"""pydevd's trace function, kept to the frames in which something can stop, on the Pythons without ``sys.monitoring``.

There a trace function is a thread's, and pydevd gives each thread one: Python 3.11 then takes its slow path for every
instruction. Our C half (``csrc/trap/frames/traced_frames.h``) switches that path on only in frames that have a
breakpoint, and everywhere while a step or a pause is under way. It knows no more of pydevd than this file tells it.
"""

from __future__ import annotations

import functools
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.fork_lock import ForkLock
from pyharness.debuggee.link import quiet_thread
from pyharness.debuggee.pydevd.frames import foreign_thread, waiting
from pyharness.debuggee.pydevd.frames.followed import after_each
from pyharness.debuggee.pydevd.frames.suspensions import any_thread_may_stop
from pyharness.debuggee.pydevd.frames.trace_function import MONITORING
from pyharness.debuggee.pydevd.steps import unwound_steps
from pyharness.debuggee.running_frames import running_frames
from pyharness.debuggee.unpatched import threading
from pyharness.debuggee.watched.imports import after_import

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, FrameType, ModuleType

_TRACERS = ("SafeCallWrapper", "ThreadTracer")
"""The types of pydevd's trace functions: with its compiled part, and without."""
_SWITCHER = "greenlet"
"""A module that keeps the interpreter's switch for each of its stacks, and sets it when it switches between them."""
_DYNAMO = "torch._dynamo.eval_frame"
_ASKED = 2
"""What our C half says where the interpreter's loop asks it about code (``csrc/trap/frames/resume_opcode.h``)."""


class TracedFrames:
    """Which frames one debugger wants to see."""

    def __init__(self) -> None:
        self._debugger: Any = None
        self._trap: Any = None
        self._parts_of_name: Any = None
        """pydevd's; kept, as all here, for a program that empties ``sys.modules``."""
        self._steps = False
        self._outermost = False
        self._asked = False
        """Whether what runs untraced has no price: the interpreter asks our C half where to trace."""
        self._uncaught_are_told = False
        self._lock = ForkLock(threading.RLock())
        self._settrace: Any = None
        """Python's, which pydevd keeps."""
        self._compiles: bool | None = None
        """Whether torch.compile was asked for; ``None`` where nobody would tell."""

    @property
    def chosen(self) -> bool:
        """Whether frames without a breakpoint run untraced now."""
        return self._debugger is not None

    def begin(self, debugger: Any) -> None:
        """From now on; every thread is traced already. Without our C half each frame is, as with debugpy alone.

        So it is in a debug build, which asserts what does no harm elsewhere: that no frame is switched to the slow path
        while its thread is in a trace function.
        """
        if MONITORING or self._debugger is not None or hasattr(sys, "gettotalrefcount"):
            return
        try:
            from pyharness import _trap
        except ImportError:
            return
        import pydevd_file_utils

        self._trap, self._parts_of_name = _trap, pydevd_file_utils.get_abs_path_real_path_and_base_from_file
        tracers = debugger.trace_dispatch, *_tracers()
        begun = _trap.begin_traced_frames(self._lines_in, tracers, _entries(), unwound_steps.left, self._adopt)
        if not begun:
            return
        self._asked = begun == _ASKED
        self._debugger = debugger
        self._lock.begin(threading.RLock())  # a forked child may have one that is held
        self._follow_program(tracers)
        after_each(debugger, debugger.on_breakpoints_changed, lambda: self._change(forget=True))
        after_each(debugger, debugger.enable_tracing, self._change)
        after_each(debugger, debugger.set_trace_for_frame_and_parents, self._look)
        after_each(
            debugger, debugger.get_internal_queue_and_event, self._look
        )  # it comes there when a step has changed
        self._change(forget=True)
        after_import(_SWITCHER, lambda _module: self._change())
        after_import(_DYNAMO, self._follow_compilers)

    def leave_uncaught(self) -> None:
        """Trace no frame for the exceptions that leave a thread, where frames can be untraced for nothing.

        Somebody else tells debugpy of those of the main thread, and of each that Python starts.
        """
        self._uncaught_are_told = True
        self._change()

    def _codes(self) -> Iterator[CodeType]:
        """All code that runs, and that of generators and coroutines that wait.

        An exception that is thrown into one of these goes past where our C half is asked.
        """
        yield from (frame.f_code for frame in running_frames())
        if self._asked:
            yield from waiting.codes()

    def end(self) -> None:
        """Every frame of a traced thread is traced again."""
        if self._debugger is not None:
            self._debugger = None
            self._follow_no_more()
            self._trap.end_traced_frames()

    def _follow_program(self, tracers: tuple[Any, ...]) -> None:
        """Look whenever the program puts back a trace function of pydevd's: each frame would be traced."""
        from pydevd_tracing import TracingFunctionHolder

        original = self._settrace = TracingFunctionHolder._original_tracing
        if original is None:
            return

        def settrace(function: Any) -> None:
            original(function)
            if any(function is each or type(function) is each for each in tracers):
                self._change()

        TracingFunctionHolder._original_tracing = settrace

    def _follow_compilers(self, dynamo: ModuleType) -> None:
        """Stand where frames begin before torch.compile does: while it compiles, code may come that has a place."""
        context = getattr(dynamo, "OptimizeContext", None)
        if context is None or self._compiles is not None:
            return  # of another version: while it compiles, every frame is traced
        self._compiles, original = False, context.__init__

        @functools.wraps(original)
        def made(*arguments: Any, **named: Any) -> None:
            if not self._compiles:
                self._compiles = True
                self._change()
            original(*arguments, **named)

        context.__init__ = made

    def _follow_no_more(self) -> None:
        from pydevd_tracing import TracingFunctionHolder

        if self._settrace is not None:
            TracingFunctionHolder._original_tracing, self._settrace = self._settrace, None

    def _look(self) -> None:
        with self._lock:  # another thread may be about to say that nothing steps, as it knew before
            if self._steps != any_thread_may_stop():
                self._change()

    def _change(self, *, forget: bool = False) -> None:
        with self._lock:  # what is found is told before another thread finds something newer
            debugger = self._debugger
            if debugger is None or debugger.pydb_disposed:
                return
            self._steps = any_thread_may_stop()
            outermost = bool(debugger.break_on_uncaught_exceptions) and not (self._asked and self._uncaught_are_told)
            forget, self._outermost = forget or outermost != self._outermost, outermost
            self._trap.change_traced_frames(
                self._steps or _SWITCHER in sys.modules or _stops_anywhere(debugger),
                any(debugger.breakpoints.values()),
                bool(self._compiles) and not self._asked,
                outermost,
                forget,
                tuple({id(code): code for code in self._codes()}.values()) if forget else (),
            )

    def _adopt(self) -> None:
        """Trace a thread that C++ has made, such as one of autograd's: pydevd knows those that Python starts.

        Of these, the main one too, whoever is not traced is so on purpose: pydevd's own, and ours.
        """
        debugger, settrace = self._debugger, self._settrace
        if debugger is None or settrace is None or debugger.pydb_disposed or quiet_thread.is_one():
            return
        if threading.main_thread().ident == threading.get_ident():
            return
        outermost: FrameType | None = sys._getframe().f_back
        while outermost is not None and outermost.f_back is not None:
            outermost = outermost.f_back
        if outermost is None or outermost.f_code not in _begins_threads():
            foreign_thread.make_known(debugger)
            settrace(debugger.trace_dispatch)

    def _lines_in(self, file: str) -> frozenset[int]:
        """The lines of breakpoints in the code of a file, by the name that its code objects have."""
        debugger = self._debugger
        if debugger is None:
            return frozenset()
        with suppress(Exception):  # the name of a file may be anything
            return frozenset(debugger.breakpoints.get(self._parts_of_name(file)[1], ()))
        return frozenset()


def is_pydevds(function: Any) -> bool:
    """Whether a trace function is one that pydevd gives a thread that it has begun to trace."""
    return type(function).__name__ in _TRACERS and type(function).__module__.startswith("_pydevd_bundle.")


def _tracers() -> Iterator[type]:
    from _pydevd_bundle import pydevd_trace_dispatch

    module = sys.modules[pydevd_trace_dispatch.trace_dispatch.__module__]
    yield from (getattr(module, name) for name in _TRACERS if hasattr(module, name))


def _entries() -> tuple[CodeType, ...]:
    """What a thread begins with: an exception that comes here has left the thread."""
    from threading import Thread

    from _pydev_bundle.pydev_monkey import _NewThreadStartupWithTrace

    begins = Thread._bootstrap_inner, _NewThreadStartupWithTrace.__call__  # type: ignore[attr-defined]
    return tuple(each.__code__ for each in begins)


def _begins_threads() -> tuple[CodeType, ...]:
    """What a thread of Python's begins with, traced or not."""
    from threading import Thread

    from _pydev_bundle.pydev_monkey import _NewThreadStartupWithoutTrace

    return Thread._bootstrap.__code__, _NewThreadStartupWithoutTrace.__call__.__code__  # type: ignore[attr-defined]


def _stops_anywhere(debugger: Any) -> bool:
    """Whether it stops at functions or exceptions, or at lines of templates, wherever they are."""
    return bool(
        debugger.function_breakpoint_name_to_breakpoint
        or debugger.break_on_caught_exceptions
        or debugger.break_on_user_uncaught_exceptions
        or debugger.has_plugin_line_breaks
        or debugger.has_plugin_exception_breaks
    )


TRACED_FRAMES = TracedFrames()

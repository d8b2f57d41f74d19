"""Runs what a person asks for on a thread of the program: for a limited time, and without harm to the program."""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyharness.debuggee import asked, kernel_timer
from pyharness.debuggee.contained import CONTAINMENT
from pyharness.debuggee.kernel_timer import KernelTimer
from pyharness.debuggee.link import quiet_thread
from pyharness.debuggee.unpatched import _thread, threading
from pyharness.host.jit_trace import unrecorded
from pyharness.model.evaluation import EVAL_TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

_AGAIN = 0.1
"""Seconds after which an expression that caught its end, or came after it, is ended."""
_MOST_MEMORY = 1 << 30
"""Bytes by which the process may grow for it."""


class EndedError(BaseException):
    """Raised in an expression to end it; no ``Exception``, which a ``__repr__`` may well catch.

    The answer then is a ``TimeoutError`` or an ``InterruptedError``.
    """


@dataclass(frozen=True)
class Outcome:
    """What came of it."""

    value: Any = None
    error: BaseException | None = None
    prints: str = ""

    @property
    def problem(self) -> str:
        """Why there is no value, in a line; empty where there is one."""
        return "" if self.error is None else told(self.error)


@contextmanager
def _little_memory() -> Iterator[None]:
    """What Python code allocates here fails beyond the limit, where our native half is there to see to it."""
    try:
        from pyharness import _trap
    except ImportError:
        yield
        return
    _trap.begin_memory_limit(_MOST_MEMORY)
    try:
        yield
    finally:
        _trap.end_memory_limit()


def told(error: BaseException) -> str:
    """An exception in a line, as Python writes it."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  (its __str__ is the user's)
        text = "<its __str__ raised>"
    if isinstance(error, MemoryError) and not text:
        text = f"it took more than {_MOST_MEMORY >> 30} GiB, or there is no more"
    shown = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return f"{shown} (the program goes on)" if isinstance(error, SystemExit) else shown


class Bounds:
    """The time limit, and what runs under it."""

    def __init__(self) -> None:
        self.seconds = EVAL_TIMEOUT
        """What each thing that a person asks for may take."""
        self._running: dict[int, _Time] = {}
        self._shared: dict[int, _Time] = {}
        """By thread: of several evaluations together."""
        self._pid = os.getpid()

    @contextmanager
    def shared(self, *, often: bool = False) -> Iterator[None]:
        """All that this thread evaluates meanwhile answers one question, and has the time of one.

        What is asked ``often``, at each pass of a line, has to cost little: a timer for each costs more than pydevd's
        line does. It is ended less exactly, no blocking call is interrupted, and memory is not limited.
        """
        ident = _thread.get_ident()
        time = self._shared[ident] = (_WatchedTime if often else _Time)(ident, self.seconds)
        try:
            yield
        finally:
            self._shared.pop(ident, None)
            time.end()

    def run(self, body: Callable[[], Any]) -> Outcome:
        """Call ``body`` on this thread; never raises. Within another it has the other's time."""
        ident = _thread.get_ident()
        if os.getpid() != self._pid:
            self._pid = os.getpid()
            self._running.clear()
        if ident in self._running and asked.whose(sys._getframe()) != "over":
            return self._running[ident].inner(body)
        if ident in self._shared:
            return self._bounded(self._shared[ident], body)
        time = _Time(ident, self.seconds)
        try:
            return self._bounded(time, body)
        finally:
            time.end()

    def _bounded(self, time: _Time, body: Callable[[], Any]) -> Outcome:
        time.begin()
        self._running[time.ident] = time
        prints = CONTAINMENT.enter()
        try:
            with time.memory(), unrecorded():
                outcome = time.run(body)
        finally:
            self._running.pop(time.ident, None)
            CONTAINMENT.leave()
        return Outcome(outcome.value, outcome.error, prints.text)

    def cancel(self) -> None:
        """End whatever runs, from any thread."""
        for time in list(self._running.values()):
            time.cancel()


class _Time:
    """The time of one question, on the thread ``ident``; it ends what runs when it is over, and again and again."""

    memory: Callable[[], AbstractContextManager[None]] = staticmethod(_little_memory)
    """What is allocated meanwhile is limited."""

    def __init__(self, ident: int, seconds: float) -> None:
        self.ident = ident
        self.seconds = seconds
        self._why: BaseException = TimeoutError(f"it took longer than {seconds:g} s and was ended")
        self._lock = _thread.allocate_lock()
        self._inside = False
        """The thread runs the user's code: only there may anything be raised."""
        self._has_begun = self._is_cancelled = False
        self._timer: KernelTimer | None = None
        self._over = _thread.allocate_lock()
        """Held from the beginning to the end."""

    def begin(self) -> None:
        """From now on it passes; a second call does nothing."""
        if self._has_begun:
            return
        self._has_begun = True
        self._over.acquire()
        if self.ident == threading.main_thread().ident:
            try:
                self._timer = KernelTimer(self._on_time)
            except (OSError, ValueError, AttributeError):
                pass
            else:
                self._timer.start(self.seconds, _AGAIN)
                return
        with suppress(RuntimeError):  # the interpreter shuts down: there are no new threads
            quiet_thread.start(self._watch)

    def end(self) -> None:
        """The question is answered."""
        with self._lock:
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.close()
        if self._has_begun:
            self._over.release()

    def run(self, body: Callable[[], Any]) -> Outcome:
        """What comes of the user's code."""
        if self._is_cancelled:
            return Outcome(error=self._why)
        try:
            try:
                self._inside = True
                return _called(body)
            finally:
                self._leave()
        except EndedError:
            while self._inside:
                with suppress(EndedError):
                    self._leave()
            return Outcome(error=self._why)

    def inner(self, body: Callable[[], Any]) -> Outcome:
        """What is asked within it, and shows by itself what has become of it."""
        try:
            return _called(body)
        except EndedError:
            return Outcome(error=self._why)

    def cancel(self) -> None:
        """From another thread."""
        self._why, self._is_cancelled = InterruptedError("it was interrupted"), True
        with self._lock:
            if self._timer is not None:
                self._timer.start(0, _AGAIN)
                return
        self.end_now()

    def end_now(self) -> None:
        """From another thread: its time is over."""
        with self._lock:
            if self._inside and asked.whose(sys._current_frames().get(self.ident)) != "over":
                _raise_in(self.ident)

    def _leave(self) -> None:
        with self._lock:
            self._inside = False
        _have_raised_what_is_due()

    def _on_time(self) -> None:
        """On the thread itself, from a signal."""
        if self._inside and asked.whose(sys._getframe()) != "over":
            raise EndedError

    def _watch(self) -> None:
        """On a thread of ours, where the thread of the expression gets no signals."""
        patience = self.seconds
        while not self._over.acquire(timeout=patience):
            self.end_now()
            patience = _AGAIN


class _WatchedTime(_Time):
    """One that ``_Watch`` looks at, which counts its looks: the program may have its own idea of the time."""

    memory = staticmethod(nullcontext)
    _looks = 0

    def look(self, every: float) -> None:
        """Another ``every`` seconds have passed, at the most."""
        self._looks += 1
        if self._looks * every > self.seconds:
            self.end_now()

    def begin(self) -> None:
        """From now on it passes; a second call does nothing."""
        _WATCH.add(self)

    def end(self) -> None:
        """The question is answered."""
        _WATCH.remove(self)


class _Watch:
    """One thread that looks every now and then at what is evaluated; it goes when that has been nothing for long."""

    _EVERY = 0.25
    _IDLE = 20

    def __init__(self) -> None:
        self._times: set[_WatchedTime] = set()
        self._lock = _thread.RLock()  # a handler of a signal may come between, and to a condition of its own
        self._never = _thread.allocate_lock()
        self._never.acquire()
        self._pid = 0
        """The process in which the thread runs."""

    def add(self, time: _WatchedTime) -> None:
        """Look at it from now on."""
        self._times.add(time)
        if self._pid == os.getpid():
            return
        with self._lock, suppress(RuntimeError):  # there are no new threads at the end, or without memory
            if self._pid != os.getpid():
                quiet_thread.start(self._run)
                self._pid = os.getpid()

    def remove(self, time: _WatchedTime) -> None:
        """Look at one no more: it has ended."""
        self._times.discard(time)

    def forget(self) -> None:
        """In a forked child."""
        self._times.clear()
        self._lock = _thread.RLock()

    def _run(self) -> None:
        idle = 0
        while not self._never.acquire(timeout=self._EVERY):
            times = list(self._times)
            for time in times:
                time.look(self._EVERY)
            idle = 0 if times else idle + 1
            with self._lock:
                if idle > self._IDLE and not self._times:
                    self._pid = 0
                    return


def _raise_in(ident: int) -> None:
    """Raise in another thread when it comes back to Python; until then no third thread hears of it.

    CPython tells all threads that there is an exception to take, by a flag that only taking one puts back. Where that
    has to wait, each traced thread of CPython 3.11 begins its next call for ever: so this one takes one of its own. The
    other thread sees to its exception by itself when it gets the GIL.
    """
    raise_in, ended = ctypes.pythonapi.PyThreadState_SetAsyncExc, ctypes.py_object(EndedError)
    own, other = ctypes.c_ulong(threading.get_ident()), ctypes.c_ulong(ident)
    try:
        raise_in(other, ended)
        raise_in(own, ended)
        for _ in range(16):
            pass
    except EndedError:
        return


def _have_raised_what_is_due() -> None:
    """An exception that another thread has set comes at the next jump; to take it back sets CPython 3.11 spinning."""
    try:
        for _ in range(16):
            pass
    except EndedError:
        return


def _called(body: Callable[[], Any]) -> Outcome:
    try:
        return Outcome(asked.call(body))
    except EndedError:
        raise
    except BaseException as error:  # noqa: BLE001  (whatever it raises is the answer, and not the program's)
        return Outcome(error=error)


_WATCH = _Watch()
os.register_at_fork(after_in_child=_WATCH.forget)
BOUNDS = Bounds()
kernel_timer.prepare()

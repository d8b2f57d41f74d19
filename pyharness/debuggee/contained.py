"""Keeps what an expression does from the program: its exits and signals are refused, its prints kept for the asker.

Names of modules are replaced only while something is evaluated, and only the threads that evaluate get the
replacement's own behaviour: for every other thread, and in a forked child, each does what it stands for. What was
imported from its module before (``from os import _exit``) is out of reach.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from pyharness.debuggee import asked
from pyharness.debuggee.pydevd.frames.trace_function import unwarned
from pyharness.debuggee.unpatched import _thread, threading

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

_MOST_TEXT = 1 << 16
"""Characters of prints that are kept of one evaluation."""
_ENDS = ("_exit", "abort", "execv", "execve")
_SIGNALS = ("kill", "killpg")


class Prints:
    """What was printed, as far as it is kept."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._left = _MOST_TEXT
        self._lost = 0

    def add(self, text: str) -> None:
        """One write."""
        self._lost += max(0, len(text) - self._left)
        self._parts.append(text[: self._left])
        self._left -= len(self._parts[-1])

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self._parts) + (f"\n… and {self._lost} characters more\n" if self._lost else "")


class Containment:
    """Around each evaluation, on its thread; several threads may be in it at once."""

    def __init__(self) -> None:
        self._lock = _thread.RLock()  # a handler of a signal may come between, and to a condition of its own
        self._inside: dict[int, Prints] = {}
        self._pid = 0
        self._replaced: list[tuple[ModuleType | type, str, Any, Any]] = []

    def enter(self) -> Prints:
        """Begin on this thread; returns where its prints go."""
        prints = Prints()
        with self._lock:
            if os.getpid() != self._pid:
                self._pid = os.getpid()
                self._inside.clear()
            self._inside[_thread.get_ident()] = prints
            if len(self._inside) == 1:
                self._replace()
        return prints

    def leave(self) -> None:
        """End on this thread; a child that the expression has forked ends here, instead of being the program again."""
        if os.getpid() != self._pid:
            os._exit(0)
        with self._lock:
            self._inside.pop(_thread.get_ident(), None)
            if not self._inside:
                self._restore()

    def prints_here(self) -> Prints | None:
        """Where this thread's prints go, ``None`` where it evaluates nothing, or a signal has come meanwhile."""
        prints = self._inside.get(_thread.get_ident()) if os.getpid() == self._pid else None
        return prints if prints is not None and asked.whose(sys._getframe(1)) == "person" else None

    def forget_lock(self) -> None:
        """In a forked child: another thread may have held it."""
        self._lock = _thread.RLock()

    def _replace(self) -> None:
        import builtins

        self._restore()
        for name in _ENDS:
            self._put(os, name, self._refusing(getattr(os, name), f"os.{name}"))
        for name in _SIGNALS:
            self._put(os, name, self._refusing_itself(getattr(os, name), f"os.{name}"))
        for name in ("raise_signal", "pthread_kill"):
            self._put(signal, name, self._refusing(getattr(signal, name), f"signal.{name}"))
        for name, kind in (("stdin", _Input), ("stdout", _Output), ("stderr", _Output)):
            stream = getattr(sys, name)
            self._put(sys, name, None if stream is None else kind(stream, self))
        self._put(builtins, "breakpoint", self._refusing(builtins.breakpoint, "breakpoint"))
        self._put(sys, "settrace", self._refusing(_tracing_as_threads_do(sys.settrace), "sys.settrace"))
        if "bdb" in sys.modules:  # it writes on frames before it calls that
            debugger = sys.modules["bdb"].Bdb
            self._put(debugger, "set_trace", self._refusing(debugger.set_trace, "pdb.set_trace"))

    def _put(self, module: ModuleType | type, name: str, new: Any) -> None:
        self._replaced.append((module, name, getattr(module, name), new))
        setattr(module, name, new)

    def _restore(self) -> None:
        while self._replaced:
            module, name, before, ours = self._replaced.pop()
            if getattr(module, name, None) is ours:  # else the program has replaced it meanwhile
                setattr(module, name, before)

    def _refusing(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        def stands_for(*arguments: Any, **named: Any) -> Any:
            if self.prints_here() is not None:
                _refuse(name)
            return function(*arguments, **named)

        return stands_for

    def _refusing_itself(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        def stands_for(target: int, number: int) -> Any:
            own = {0, -1, os.getpid(), -os.getpid(), os.getpgrp(), -os.getpgrp()}
            if number != 0 and target in own and self.prints_here() is not None:
                _refuse(name)
            return function(target, number)

        return stands_for


def _tracing_as_threads_do(settrace: Callable[[Any], None]) -> Callable[[Any], None]:
    """A thread that begins meanwhile is traced as threads are; pydevd warns of any other caller."""

    def stands_for(function: Any) -> None:
        begins = sys._getframe(2).f_code.co_filename == threading.__file__
        ((unwarned() if begins else None) or settrace)(function)

    return stands_for


def _refuse(name: str) -> NoReturn:
    raise PermissionError(f"{name}() in an expression is not passed on to the program")


class _Stream:
    """A standard stream of the program's, as every thread but those that evaluate has it."""

    def __init__(self, stream: Any, containment: Containment) -> None:
        self._stream = stream
        self._containment = containment

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def close(self) -> None:
        """``exit()`` closes stdin."""
        if self._containment.prints_here() is None:
            self._stream.close()


class _Output(_Stream):
    def write(self, text: str) -> int:
        prints = self._containment.prints_here()
        if prints is None:
            count: int = self._stream.write(text)
            return count
        prints.add(str(text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)


class _Input(_Stream):
    """Input that has ended: an expression may not take the program's."""

    def read(self, *size: int) -> Any:
        return "" if self._containment.prints_here() is not None else self._stream.read(*size)

    def readline(self, *size: int) -> Any:
        return "" if self._containment.prints_here() is not None else self._stream.readline(*size)

    def __iter__(self) -> Any:
        return iter(()) if self._containment.prints_here() is not None else iter(self._stream)

    def fileno(self) -> int:
        if self._containment.prints_here() is not None:
            raise OSError("an expression has no input")
        number: int = self._stream.fileno()
        return number


CONTAINMENT = Containment()
os.register_at_fork(after_in_child=CONTAINMENT.forget_lock)

"""Which threads there are: one registry for the program's ``threading`` and ours, until gevent patches the program's.

Names, ends and the main thread are as the program knows them. A module that gevent has patched calls each greenlet a
thread, and the main thread by another number: the program gets a registry of its own for that. Ours keeps the one that
debugpy knows, with the threads of the system.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.unpatched import _thread, is_programs_own, threading
from pyharness.debuggee.watched.imports import after_import

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

_RECORDS = ("_active", "_limbo", "_active_limbo_lock", "_main_thread", "_shutdown_locks", "_shutdown_locks_lock")
_FUNCTIONS = ("settrace", "setprofile")
"""What is set for the threads that the program starts."""
_KINDS = ("Thread", "_DummyThread")
_HANDLES = ("_handle", "_os_thread_handle")
"""From Python 3.13 on."""


class Registry:
    """Shares the threads of the program's module, if that is Python's own, and parts from it."""

    def __init__(self) -> None:
        self._programs: Any = sys.modules["threading"]
        self.is_shared = not is_programs_own("threading") and threading is not self._programs
        self.at_part: list[Callable[[], object]] = []
        """Called when it parts."""
        ours, programs = vars(threading), vars(self._programs)
        self._own = {name: ours[name] for name in (*_KINDS, *_FUNCTIONS)}
        if self.is_shared:
            ours.update({name: programs[name] for name in (*_RECORDS, *_FUNCTIONS, "_DummyThread") if name in programs})
            ours["Thread"] = self._kind_of_both(threading.Thread)
            after_import("gevent.monkey", self._part_first)

    @property
    def active(self) -> dict[int, threading.Thread]:
        """Ident → thread, those of the debugger included; none is made for a thread of C's."""
        known: dict[int, threading.Thread] = threading._active  # type: ignore[attr-defined]
        return known

    def _kind_of_both(self, own: type) -> type:
        """Our class of threads, of which the program's threads are instances, too."""
        registry = self

        class Kind(type):
            def __instancecheck__(cls, instance: object) -> bool:
                if registry.is_shared and cls is Thread and isinstance(instance, registry._programs.Thread):
                    return True
                return super().__instancecheck__(instance)

        class Thread(own, metaclass=Kind):  # type: ignore[misc]
            pass

        return Thread

    def _part_first(self, monkey: ModuleType) -> None:
        """Part when the program asks gevent to patch its threads."""
        original = monkey.patch_thread

        @functools.wraps(original)
        def patch_thread(*arguments: Any, **named: Any) -> Any:
            if self.is_shared:
                self._part()
            return original(*arguments, **named)

        monkey.patch_thread = patch_thread  # type: ignore[attr-defined]

    def _part(self) -> None:
        """Give the program's module a registry of its own, in which debuggers have no threads."""
        self.is_shared = False
        programs, main = self._programs, threading.main_thread()
        twin = _twin_of(main)
        programs._dangling.add(twin)
        known = {
            ident: twin if each is main else each for ident, each in programs._active.items() if not _is_ours(each)
        }
        vars(programs).update(_active=known, _limbo={}, _active_limbo_lock=programs.RLock(), _main_thread=twin)
        programs._shutdown = _ending(main, programs._shutdown)
        vars(threading).update(self._own)
        for call in self.at_part:
            call()


def _twin_of(main: Any) -> Any:
    """The main thread for the program, which gevent may number anew."""
    twin = object.__new__(type(main))
    vars(twin).update(vars(main))
    for name in _HANDLES:
        if name in vars(main):
            setattr(main, name, _thread._make_thread_handle(main.ident))  # type: ignore[attr-defined]
    return twin


def _ending(main: Any, shut_down: Callable[[], object]) -> Callable[[], None]:
    """What Python calls when the main thread ends; the debugger waits for the end of the one that it knows, too."""

    def shutdown() -> None:
        main._is_stopped = True  # up to Python 3.12
        for name in _HANDLES:
            if name in vars(main):
                getattr(main, name)._set_done()
        shut_down()

    return shutdown


def _is_ours(thread: object) -> bool:
    return bool(getattr(thread, "is_pydev_daemon_thread", False))


REGISTRY = Registry()

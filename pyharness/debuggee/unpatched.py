"""Modules of the standard library that are the debugger's alone: what a program puts in their places is not in them.

gevent's ``monkey.patch_all`` replaces locks, sockets, sleeps and the identity of a thread in ``threading`` and others.
A thread of ours would wait there for greenlets that never run. So all that locks, waits or asks for its thread in a
program imports these.
"""

from __future__ import annotations

import builtins
import importlib
import os
import sys
from importlib.util import module_from_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["_thread", "is_programs_own", "queue", "select", "socket", "threading", "time"]

_TOLD_BY = {"_thread": "get_ident", "threading": "get_ident", "time": "sleep", "select": "select", "socket": "socket"}
"""A name in each module that tells by its own module whether it has been replaced."""
_MADE_IN = {"threading": "_thread"}


def is_programs_own(name: str) -> bool:
    """Whether the program, or a library of its, has put something of its own into a module."""
    told_by = getattr(importlib.import_module(name), _TOLD_BY[name])
    return bool(told_by.__module__ != _MADE_IN.get(name, name))


def _unpatched(name: str) -> ModuleType:
    """A module whose functions and classes wait for nothing of Python's that can be replaced, as it is now."""
    if is_programs_own(name):
        return _run_again(name, {})
    module = ModuleType(name)
    vars(module).update(vars(sys.modules[name]))
    return module


def _run_again(name: str, imported: dict[str, ModuleType]) -> ModuleType:
    """A second module of this name; it finds ``imported`` where it imports these."""
    spec: Any = importlib.import_module(name).__spec__
    module = module_from_spec(spec)
    import_ = builtins.__import__

    def find(wanted: str, *arguments: Any, **named: Any) -> Any:
        return imported[wanted] if wanted in imported else import_(wanted, *arguments, **named)

    vars(module)["__builtins__"] = {**vars(builtins), "__import__": find}
    code = spec.loader.get_code(name)
    if code is None:  # it is C
        spec.loader.exec_module(module)
        return module
    module.__name__ = f"{__name__}.{name}"  # ``socket`` asks for the module of its name, and writes into that
    sys.modules[module.__name__] = module
    try:
        exec(code, vars(module))  # noqa: S102
    finally:
        del sys.modules[module.__name__]
    return module


def _threading() -> ModuleType:
    """``threading`` as it begins in a process, or as a debugger that was here before keeps it for itself."""
    kept = getattr(sys.modules.get("_pydev_bundle._pydev_saved_modules"), "threading", None)
    if kept is not None and kept is not sys.modules["threading"]:
        return kept  # type: ignore[no-any-return]
    given = ModuleType("_thread")
    vars(given).update(vars(_thread))
    sentinel = getattr(_thread, "_set_sentinel", None)  # up to Python 3.12
    if sentinel is not None:  # a thread has one: the main thread's is that of the program's module
        vars(given)["_set_sentinel"] = _thread.allocate_lock
    module: Any = _run_again("threading", {"_thread": given, "time": time})
    if sentinel is not None:
        module._set_sentinel = sentinel
    main = module._main_thread  # whichever thread imports it
    main._ident, main._native_id = _main_ident(), os.getpid()
    module._active.clear()
    module._active[main._ident] = main
    return module  # type: ignore[no-any-return]


def _main_ident() -> int:
    """What Python calls the main thread: it is the one that began first."""
    return next(reversed(sys._current_frames()))


if TYPE_CHECKING:
    import _thread
    import queue
    import select
    import socket
    import threading
    import time
else:
    _thread, time, select, socket = (_unpatched(each) for each in ("_thread", "time", "select", "socket"))
    threading = _threading()
    queue = _run_again("queue", {"threading": threading, "time": time})

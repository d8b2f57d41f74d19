"""``threading`` and ``queue`` of the debugger's own: their code is run again, which takes milliseconds."""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.unpatched import _thread, time
from pyharness.debuggee.unpatched.copies import run_again


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
    module: Any = run_again("threading", {"_thread": given, "time": time})
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
    import queue
    import threading
else:
    threading = _threading()
    queue = run_again("queue", {"threading": threading, "time": time})

"""Keeps pydevd from records of threads that it need not know, on Python 3.12 and later: of ours, and of some that end.

Python runs callbacks while the thread of a native caller is cleared. What pydevd remembers of that is gone by then. It
would make another record, which nothing clears any more until the interpreter ends, and Python complains there on the
program's stderr. And each record is a thread to ``threading.enumerate``.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.link import quiet_thread
from pyharness.debuggee.pydevd.frames.trace_function import MONITORING

if TYPE_CHECKING:
    from types import CodeType, ModuleType

_OURS = quiet_thread.BEGINNING
_PACKAGE = "_pydevd_sys_monitoring."
_CALLED_BACK = {"_remove", "remove", "__del__"}
_MODULES = ("_weakrefset", "weakref", "threading")


def watch() -> None:
    """From now on."""
    modules: list[Any] = [each for name, each in list(sys.modules.items()) if name.startswith(_PACKAGE)]
    for module in modules if MONITORING else ():
        threading = getattr(module, "threading", None)
        if threading is not None and not isinstance(threading, _Threading):
            module.threading = _Threading(threading)


class _Threading:
    """The module, for pydevd: a thread that ends is none."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._files = {sys.modules[name].__file__ for name in _MODULES if name in sys.modules}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)

    def current_thread(self) -> Any:
        """The thread that runs; ``None`` for one of ours, and where all that it runs is such a callback."""
        frame = sys._getframe(1)
        while frame.f_back is not None:
            frame = frame.f_back
        return None if self._is_unknown(frame.f_code) else self._module.current_thread()

    def _is_unknown(self, code: CodeType) -> bool:
        return code is _OURS or (code.co_name in _CALLED_BACK and code.co_filename in self._files)

"""Tells the controller of each native library that the program loads, before any code of it is called from Python."""

from __future__ import annotations

import ctypes
import importlib.machinery
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.watched.imports import after_import
from pyharness.fx.inductor.models import around_models
from pyharness.host.mapped_code import mapped_code
from pyharness.model.user_code import included, is_added_binary, is_user_binary

if TYPE_CHECKING:
    from collections.abc import Callable


def loaded() -> list[str]:
    """The libraries of the user's that this process has loaded so far."""
    return [path for path in mapped_code() if path.startswith("/") and is_user_binary(path) and Path(path).is_file()]


def added() -> list[str]:
    """The libraries of others that this process has loaded so far: torch's, NumPy's."""
    paths = (path for path in mapped_code() if path.startswith("/"))
    return [path for path in paths if is_added_binary(path) and not is_user_binary(path)]


def install(
    notify_first: Callable[[str], None], notify: Callable[[str], None], notify_added: Callable[[str], None]
) -> None:
    """Call ``notify(path)`` after each load of a library of the user's, as a module, or through ``ctypes`` or cffi.

    ``notify_first(path)`` is called before the first one: its initializers run while it is loaded.
    ``notify_added(path)`` is called after each load of a library that is neither the user's nor Python's own.

    Those that the linker brought are told, too, as far as somebody asked for them: in ``LD_PRELOAD``, or by including a
    library's code, which an extension (torch's own, say) brings with it.
    """
    loads = _Loads(notify_first, notify, notify_added)
    preloaded = [os.path.realpath(name) for name in os.environ.get("LD_PRELOAD", "").replace(":", " ").split()]
    for path in loaded() if preloaded else ():
        if path in preloaded:
            loads.tell(path)
    _around_each_load(loads.before, loads.after)
    after_import("torch", lambda torch: around_models(torch, loads.tell_all))


class _Loads:
    """Who is told of which library, and what was told so far."""

    def __init__(
        self, notify_first: Callable[[str], None], notify: Callable[[str], None], notify_added: Callable[[str], None]
    ) -> None:
        self._notify_first = notify_first
        self._notify = notify
        self._notify_added = notify_added
        self._told: set[str] = set()
        self._first = ""

    def tell(self, path: str) -> None:
        """Tell of one of the user's."""
        self._told.add(path)
        self._notify(path)

    def before(self, path: str) -> None:
        """Take a library that is loaded next."""
        if not (self._first or self._told) and is_user_binary(path):
            self._first = path
            self._notify_first(path)

    def after(self, path: str) -> None:
        """Take one that was loaded."""
        if "/" not in path:
            self._found(path)
        elif is_user_binary(path):
            self.tell(path)
        elif is_added_binary(path):
            self._notify_added(path)
        if included():
            self.tell_all()

    def _found(self, name: str) -> None:
        """Take one that was loaded by its name alone: the linker knows where it is."""
        self.tell_all()
        if any(Path(each).name.startswith(name) for each in added()):
            self._notify_added(name)

    def tell_all(self) -> None:
        """Tell of those that came otherwise than by Python's own ways."""
        for path in loaded():
            if path not in self._told:
                self.tell(path)


def _around_each_load(tell_before: Callable[[str], None], tell: Callable[[str], None]) -> None:
    loader = importlib.machinery.ExtensionFileLoader
    create_module = loader.create_module
    cdll_init = ctypes.CDLL.__init__

    def create_and_tell(self: Any, spec: Any) -> Any:
        tell_before(self.path)
        module = create_module(self, spec)
        tell(self.path)
        return module

    def open_and_tell(self: ctypes.CDLL, name: str | None, *args: Any, **kwargs: Any) -> None:
        if name:
            tell_before(str(name))
        cdll_init(self, name, *args, **kwargs)
        if name:
            tell(str(name))

    def follow_cffi(api: Any) -> None:
        dlopen = api.FFI.dlopen

        def dlopen_and_tell(self: Any, name: object, *args: Any, **kwargs: Any) -> Any:
            if isinstance(name, str):
                tell_before(name)
            library = dlopen(self, name, *args, **kwargs)
            if isinstance(name, str):
                tell(name)
            return library

        api.FFI.dlopen = dlopen_and_tell

    after_import("cffi.api", follow_cffi)
    loader.create_module = create_and_tell  # type: ignore[method-assign]
    ctypes.CDLL.__init__ = open_and_tell  # type: ignore[method-assign]

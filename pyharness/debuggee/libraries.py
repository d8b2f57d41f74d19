"""Tells the controller of each native library that the program loads, before any code of it is called from Python."""

from __future__ import annotations

import ctypes
import importlib.machinery
from typing import TYPE_CHECKING, Any

from pyharness.model.user_code import is_user_binary

if TYPE_CHECKING:
    from collections.abc import Callable


def install(notify: Callable[[str], None]) -> None:
    """Call ``notify(path)`` after each load of a library of the user's, as a module or through ``ctypes``."""
    loader = importlib.machinery.ExtensionFileLoader
    create_module = loader.create_module
    cdll_init = ctypes.CDLL.__init__

    def create_and_tell(self: Any, spec: Any) -> Any:
        module = create_module(self, spec)
        if is_user_binary(self.path):
            notify(self.path)
        return module

    def open_and_tell(self: ctypes.CDLL, name: str | None, *args: Any, **kwargs: Any) -> None:
        cdll_init(self, name, *args, **kwargs)
        if name and is_user_binary(str(name)):
            notify(str(name))

    loader.create_module = create_and_tell  # type: ignore[method-assign]
    ctypes.CDLL.__init__ = open_and_tell  # type: ignore[method-assign]

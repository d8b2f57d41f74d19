"""Names of a package that are imported when they are first used: what is imported early stays light."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from pyharness.host import recursion

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Hooks = tuple["Callable[[str], Any]", "Callable[[], list[str]]", list[str]]


def on_first_use(package: str, homes: Mapping[str, str], *more: str) -> Hooks:
    """``__getattr__``, ``__dir__`` and ``__all__`` of ``package``; ``more`` are names that it has already.

    ``homes`` gives for a module of the package (``"debugger.api.debug"``) its names, with spaces between. Type checkers
    do not see this, but the same names imported under ``TYPE_CHECKING``, as themselves (``attach as attach``), and so
    they tell of a name that does not exist.
    """
    home = {name: module for module, names in homes.items() for name in names.split()}
    everything = sorted({*home, *more})

    def get(name: str) -> Any:
        if name not in home:
            unknown = AttributeError(f"module {package!r} has no attribute {name!r}")
            unknown.name, unknown.obj = name, sys.modules[package]  # CPython 3.9 does not take them as arguments
            raise unknown
        with recursion.room(recursion.IMPORTS):  # ``breakpoint()`` is called where a recursion has almost no end
            value = getattr(importlib.import_module(f"{package}.{home[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted({*vars(sys.modules[package]), *home}), everything

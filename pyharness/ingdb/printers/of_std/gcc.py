"""Has gdb show the containers of libstdc++, and compute with them: it would load that only with the library itself."""

from __future__ import annotations

import importlib
import sys
import warnings
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gdb

from pyharness.ingdb.printers import registry
from pyharness.ingdb.printers.of_std import lookups, methods

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

_PLACES = ("gcc/python", "gcc-*/python")


@cache
def register() -> None:
    """Register libstdc++'s own printers behind ours, where this machine has them; else containers show their fields.

    Its xmethods come with them: ``v[0]``, ``*shared``, ``set.size()``, which no library has as functions to call.
    """
    for folder in _folders():
        sys.path.append(str(folder))
        try:
            _load("printers").register_libstdcxx_printers(None)
        except (ImportError, AttributeError, RuntimeError):
            sys.path.remove(str(folder))
            continue
        _register_methods()
        registry.register()  # gdb asks whoever came last first
        return


def _load(name: str) -> ModuleType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # patterns of older ones have backslashes that Python 3.12 warns of
        return importlib.import_module(f"libstdcxx.v6.{name}")


def _register_methods() -> None:
    known: list[Any] = vars(gdb)["xmethods"]  # gdb's annotations do not have it
    before = list(known)
    try:
        _load("xmethods").register_libstdcxx_xmethods(None)
    except (ImportError, AttributeError, RuntimeError):
        return
    known += [*methods.matchers(), lookups.matcher()]  # asked behind GCC's own
    for matcher in known:
        if matcher not in before:
            matcher.match = _careful(matcher.match)


def _careful(match: Callable[[gdb.Type, str], Any]) -> Callable[[gdb.Type, str], Any]:
    """``match``, which would fail for each method of a class without a name, or without its template's arguments."""

    def careful(class_type: gdb.Type, method: str) -> Any:
        try:
            return match(class_type, method) if class_type.tag else None
        except (gdb.error, RuntimeError, LookupError, TypeError):
            return None

    return careful


def _folders() -> list[Path]:
    """Where gcc installs them: beside gdb's own data, or in the system's."""
    shares = [Path(gdb.PYTHONDIR).parents[1], Path("/usr/share"), Path("/usr/local/share")]
    return [found for share in shares for place in _PLACES for found in sorted(share.glob(place))]

"""Has gdb show the containers of libstdc++: it would load their printers only with the library, which is never read."""

from __future__ import annotations

import importlib
import sys
from functools import cache
from pathlib import Path

import gdb

from pyharness.ingdb.printers import registry

_PLACES = ("gcc/python", "gcc-*/python")


@cache
def register() -> None:
    """Register libstdc++'s own printers behind ours, where this machine has them; else containers show their fields."""
    for folder in _folders():
        sys.path.append(str(folder))
        try:
            importlib.import_module("libstdcxx.v6.printers").register_libstdcxx_printers(None)
        except (ImportError, AttributeError, RuntimeError):
            sys.path.remove(str(folder))
            continue
        registry.register()  # gdb asks whoever came last first
        return


def _folders() -> list[Path]:
    """Where gcc installs them: beside gdb's own data, or in the system's."""
    shares = [Path(gdb.PYTHONDIR).parents[1], Path("/usr/share"), Path("/usr/local/share")]
    return [found for share in shares for place in _PLACES for found in sorted(share.glob(place))]

"""Comes into a program that was not started by us: it listens under a handle from now on, as if it had been."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from pyharness.debuggee.unpatched import _thread

if TYPE_CHECKING:
    from pyharness.debuggee.link.served import Served

_STARTING = _thread.allocate_lock()


def start(home: str) -> dict[str, Any]:
    """Listen; the card of the handle (``Handle``), as data. ``home`` is where the controller looks for handles."""
    from dataclasses import asdict

    with _STARTING:  # two debuggers may come at the same moment
        return asdict(_here(home).handle)


def _here(home: str) -> Served:
    from pyharness.debuggee.link import served
    from pyharness.host.handles import default_name

    here = served.Served.current
    if here is not None and not here.handle.alive:  # its folder was a debugger's temporary one
        here.move(home)
    if here is None:
        words = getattr(sys, "orig_argv", [sys.executable])[1:]
        script = next((word for word in words if not word.startswith("-")), "program")
        here = served.Served(default_name(script, os.getpid()), " ".join(words), folder=home)
        here.start()
    return here

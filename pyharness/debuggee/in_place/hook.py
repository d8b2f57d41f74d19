"""What ``breakpoint()`` does under ``pyharness run``: the prompt in place of pdb, where there is a terminal."""

from __future__ import annotations

import os
import sys
from typing import Any

from pyharness.debuggee.entries.spawned import begin_in_spawned
from pyharness.debuggee.in_place import harness  # noqa: F401  (it takes our variable away)
from pyharness.debuggee.in_place.terminal import OwnTerminal
from pyharness.model.errors import HarnessError


def install() -> None:
    """Have ``breakpoint()`` open the prompt; where the environment says what it does, it does that."""
    if os.environ.get("PYTHONBREAKPOINT") or sys.breakpointhook is not sys.__breakpointhook__:
        return
    try:
        OwnTerminal().close()
    except HarnessError:  # Python's own reads its commands wherever they come from
        return
    sys.breakpointhook = _open_prompt
    begin_in_spawned(install, lacks="breakpoint() is pdb's in this process")


def _open_prompt(*_arguments: Any, **_named: Any) -> None:
    from pyharness.debuggee.in_place.stops import stop_in

    stop_in(sys._getframe(1))

"""Has somebody answer for the ranks of this host, where `pyharness run --store` runs one of them."""

from __future__ import annotations

import os
import sys

from pyharness.debuggee.in_place.harness import Harness
from pyharness.model.errors import HarnessError
from pyharness.model.ranks.launchers import told_rank
from pyharness.model.text.visible import say
from pyharness.protocol.store import VARIABLE

_START = os.path.realpath(os.path.join(__file__, "../../start.py"))  # noqa: PTH118  (as start.py has it)
_NOT_THEIRS = ("LD_PRELOAD", "PYTHONINSPECT", "PYHARNESS_PROMPT")
"""Variables that are meant for the program, and not for the process beside it."""
_OFF = {"", "0"}
_CANDIDATES = 2
"""Ranks of each host that start a process: one answers, and the other one where that has gone."""


def begin() -> None:
    """Start it where that is wanted, for the first ranks of the host; the program runs whatever comes of it."""
    if os.environ.get(VARIABLE, "") in _OFF:
        return
    told = told_rank(os.environ)
    if told is None:
        say("no rank answers through a store: no launcher has told this program its rank.")
        return
    del os.environ[VARIABLE]  # for the rank, and not for what it starts
    try:
        _begin(*told)
    except (HarnessError, OSError) as error:
        say(f"no rank of this host answers through a store: {error}")


def _begin(rank: int, _world: int | None, local: int | None) -> None:
    from pyharness.debuggee.link.ptracer import allow_everyone
    from pyharness.native.crash_watch import start_unseen

    host, port = os.environ.get("MASTER_ADDR", ""), os.environ.get("MASTER_PORT", "")
    if not host or not port.isdecimal():
        raise HarnessError("MASTER_ADDR and MASTER_PORT do not say where the store is.", "Does the script set them?")
    allow_everyone()
    if local is None or local < _CANDIDATES:
        environment = {name: value for name, value in os.environ.items() if name not in _NOT_THEIRS}
        start_unseen([Harness.python or sys.executable, "-I", _START, "answers", str(os.getpid())], environment)
    if rank == 0:
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        say(f"all ranks: pyharness ranks --store {address}")

"""A place that was never reached is an error when the program ends: a batch script then exits with a status not 0.

gdb runs a script's next line after a program has ended; hooks after `run` and `continue` make that an error instead.
"""

from __future__ import annotations

import gdb

from pyharness.ingdb import console
from pyharness.ingdb.prompt import places, stops
from pyharness.ingdb.prompt.registry import command
from pyharness.model.errors import HarnessError

_HOOKED = ("run", "continue")
_ended: list[bool] = []


def start() -> None:
    """Look at the places whenever the program ends; once per gdb."""
    gdb.events.exited.connect(lambda _event: _ended.append(True))
    for name in _HOOKED:
        console.run(f"define hookpost-{name}\nph-ended\nend")


@command("ph-ended", gdb.COMMAND_STATUS)
def ph_ended(_argument: str) -> None:
    """Fail if the program has just ended without reaching a place (runs by itself after `run` and `continue`)."""
    if stops.driving():
        return
    ended, _ended[:] = bool(_ended), []
    missed = places.unreached() if ended else []
    if missed:
        raise HarnessError("\n".join(missed))

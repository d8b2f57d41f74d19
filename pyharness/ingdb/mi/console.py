"""``-ph-gdb-command``: what gdb itself says to a command that a person typed."""

from __future__ import annotations

import gdb

from pyharness.ingdb.mi.commands import handles, select
from pyharness.protocol import mi

_MOST = 1 << 18


@handles(mi.GdbCommand)
def _gdb_command(question: mi.GdbCommand) -> str:
    select(question.thread)
    return gdb.execute(question.command, from_tty=False, to_string=True)[:_MOST]

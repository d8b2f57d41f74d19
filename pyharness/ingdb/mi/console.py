"""What a person has gdb itself do: a command that was typed, a script of their own."""

from __future__ import annotations

import gdb

from pyharness.ingdb.mi.commands import handles, select
from pyharness.ingdb.opening import own_scripts
from pyharness.protocol import mi

_MOST = 1 << 18


@handles(mi.ReadScript)
def _read_script(request: mi.ReadScript) -> None:
    own_scripts.read(request.path)


@handles(mi.GdbCommand)
def _gdb_command(question: mi.GdbCommand) -> str:
    select(question.thread)
    return gdb.execute(question.command, from_tty=False, to_string=True)[:_MOST]

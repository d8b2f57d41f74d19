"""ph-help: the ph- commands, one line each."""

from __future__ import annotations

import gdb

from pyharness.ingdb import console, terminal
from pyharness.ingdb.prompt.registry import command


@command("ph-help", gdb.COMMAND_SUPPORT)
def ph_help(argument: str) -> None:
    """List the ph- commands; `ph-help COMMAND` says more about one."""
    if argument:
        name = argument if argument.startswith("ph-") else f"ph-{argument}"
        gdb.execute(f"help {name}")
        return
    names = console.run("complete ph-").split()
    width = max(map(len, names), default=0) + 2
    for name in names:
        summary = console.run(f"help {name}").partition("\n")[0]
        terminal.write(f"{name:<{width}}{summary}")

"""``pyharness gdb-script``: the path for the one ``source`` line of plain gdb."""

from __future__ import annotations

import click

from pyharness.cli import output
from pyharness.cli.attach import COMMANDS


@click.command()
def command() -> None:
    """Print the path that plain gdb is to source: source $(pyharness gdb-script)."""
    output.write(str(COMMANDS))

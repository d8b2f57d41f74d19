"""``pyharness fx show SCRIPT``: each GraphModule that a program makes, as a table of its nodes."""

from __future__ import annotations

import click


@click.command()
def command() -> int:
    """Run SCRIPT and show the nodes of each GraphModule that it makes."""
    return 0

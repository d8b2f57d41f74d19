"""``pyharness gdb-script``: the path for the one ``source`` line of plain gdb."""

from __future__ import annotations

import click

from pyharness.cli.attach import COMMANDS
from pyharness.cli.grammar.verb import Verb
from pyharness.cli.kit import output

_EXAMPLES = (
    (
        "gdb of your own, with tensors that print themselves",
        'gdb -ex "source $(pyharness gdb-script)" --args python train.py',
    ),
    ("the same in every gdb", 'echo "source $(pyharness gdb-script)" >> ~/.gdbinit'),
)


@click.command(cls=Verb, examples=_EXAMPLES, statuses=(("0", "printed"),))
def command() -> None:
    """Print the path of the file that brings the ph- commands and tensor printers into plain gdb."""
    output.write(str(COMMANDS))

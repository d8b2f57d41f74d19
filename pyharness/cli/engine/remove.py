"""``pyharness engine remove``: removes engines that were built on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pyharness.cli.grammar import completers
from pyharness.cli.grammar.verb import Verb
from pyharness.cli.kit import output
from pyharness.cli.kit.options import json_option
from pyharness.model.errors import UsageError, nearest

if TYPE_CHECKING:
    from pyharness.engine.shelf import Kept

_EXAMPLES = (("those that no pyharness here would load", "pyharness engine remove --old"),)
_STATUSES = (("0", "they are gone"), ("2", "there is no such engine"))


@click.command(cls=Verb, examples=_EXAMPLES, statuses=_STATUSES)
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=completers.engines)
@click.option("--old", is_flag=True, help="Those of other sources than this pyharness's.")
@click.option("--all", "every", is_flag=True, help="All of them.")
@json_option
def command(names: tuple[str, ...], *, old: bool, every: bool, as_json: bool) -> int:
    """Remove engines, by the NAME that `pyharness engine list` shows. Programs that have loaded one keep it.

    --old and --all also remove what is left of builds that were ended.
    """
    from pyharness.engine import shelf

    if not (names or old or every):
        raise UsageError("Which engines?", "Name some, as `pyharness engine list` shows them, or say --old or --all.")
    kept = shelf.all_kept()
    _check(names, kept)
    gone = [each.key for each in kept if every or each.key in names or (old and not each.is_current)]
    for name in gone:
        shelf.remove(name)
    if old or every:
        gone += shelf.remove_begun()
    if as_json:
        output.write_json({"removed": gone})
    else:
        output.write("\n".join(f"removed {name}" for name in gone) or "There was none to remove.")
    return 0


def _check(names: tuple[str, ...], kept: list[Kept]) -> None:
    known = [each.key for each in kept]
    for name in names:
        if name not in known:
            raise UsageError(f"There is no engine {name!r}.", nearest(name, known) or "See `pyharness engine list`.")

"""``pyharness engine list``: the engines that were built on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pyharness.cli.grammar.verb import Verb
from pyharness.cli.kit import output
from pyharness.cli.kit.options import json_option

if TYPE_CHECKING:
    from pyharness.engine.shelf import Kept

_EXAMPLES = (("for a script", "pyharness engine list --json"),)
_MIB = 1 << 20


@click.command(cls=Verb, examples=_EXAMPLES, statuses=(("0", "listed, also where there is none"),))
@json_option
def command(*, as_json: bool) -> int:
    """List the engines that were built: name, torch, Python, size.

    "old" stands beside those of other sources than this pyharness's; `pyharness engine remove --old` removes them.
    """
    from pyharness.engine import shelf

    kept = shelf.all_kept()
    if as_json:
        output.write_json({"folder": str(shelf.folder()), "engines": [each.to_json() for each in kept]})
    else:
        output.write("\n".join(map(_row, kept)) or f"No engine has been built in {shelf.folder()}.")
    return 0


def _row(each: Kept) -> str:
    old = "" if each.is_current else "  old"
    return f"{each.key}  torch {each.torch}, CPython {each.python}, {each.size / _MIB:.1f} MiB{old}"

"""``pyharness session check FILE``: reads a session file and says what is wrong with it."""

from __future__ import annotations

import click

from pyharness.cli.grammar import completers
from pyharness.cli.grammar.verb import Verb
from pyharness.cli.kit import output
from pyharness.cli.kit.options import json_option

_EXAMPLES = (("before it is played", "pyharness session check sessions/train.toml"),)


@click.command(cls=Verb, examples=_EXAMPLES, statuses=(("0", "nothing is wrong with it"),))
@click.argument("file", metavar="FILE", shell_complete=completers.sessions)
@json_option
def command(file: str, *, as_json: bool) -> int:
    """Read FILE and say what is wrong with it, without running anything.

    With --json: {"file", "steps": NUMBER}, or {"error": {"message", "remedy"}}.
    """
    from pyharness.session.parse import plan_of

    plan = plan_of(file)
    plan.target.check()
    count = len(plan.steps)
    if as_json:
        output.write_json({"file": file, "steps": count})
    else:
        output.write(f"{file}: {count} step{'' if count == 1 else 's'}, nothing wrong.")
    return 0

"""``pyharness session run FILE``: plays a session file and checks what it expects."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from pyharness.cli.grammar import completers
from pyharness.cli.grammar.verb import Verb
from pyharness.cli.kit.interpreter import python_of
from pyharness.cli.kit.options import full_option, program_json_option, raw_option

if TYPE_CHECKING:
    from pyharness.model.errors import HarnessError

_EXAMPLES = (
    ("show each stop, and the difference where an expectation fails", "pyharness session run sessions/train.toml"),
    ("the same for a script", "pyharness session run sessions/train.toml --json"),
)
_STATUSES = (
    ("0", "all is as expected, and the program ended with 0 or with the `exit_code` that is expected"),
    ("1", "something is not as expected, or was not done"),
    ("the program's", "all is as expected and the program failed; 128 + N for signal N"),
)


def _failure(error: HarnessError) -> dict[str, Any]:
    from pyharness.cli.kit.transcript import failure

    return failure(error)


@click.command(cls=Verb, examples=_EXAMPLES, statuses=_STATUSES, failure=_failure)
@click.argument("file", metavar="FILE", shell_complete=completers.sessions)
@program_json_option
@full_option
@raw_option
def command(file: str, *, as_json: bool, full: bool, raw: bool) -> int:
    """Play FILE, a session: its steps, and what it expects of each stop."""
    from pyharness.cli.kit.transcript import play, play_on_ranks
    from pyharness.session.parse import plan_of

    plan = plan_of(file)
    if plan.job:
        return play_on_ranks(plan.job, replace(plan, full=plan.full or full), as_json=as_json, raw=raw)
    target = plan.target
    python = python_of(target.python, target.cwd, "" if target.module else target.script)
    plan = replace(plan, target=replace(target, python=python))
    return play(replace(plan, full=plan.full or full), as_json=as_json, raw=raw)

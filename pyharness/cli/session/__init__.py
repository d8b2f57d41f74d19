"""``pyharness session VERB``: steps in a file, with what is expected of each stop."""

from __future__ import annotations

import click

from pyharness.cli.grammar.lazy_group import LazyGroup

# One module of this folder for each, with a `command`; it is imported when it is used.
VERBS = {
    "run": "play a session file; fail where something is not as it expects",
    "check": "read a session file and say what is wrong with it, without running anything",
}
_EXAMPLES = (("play it, as in CI", "pyharness session run sessions/train.toml"),)


@click.group(cls=LazyGroup, package=__name__, summaries=VERBS, examples=_EXAMPLES)
def command() -> None:
    """Play session files: steps in TOML, with what is expected of each stop."""

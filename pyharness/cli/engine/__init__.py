"""``pyharness engine VERB``: the engines that were built on this machine, one for each Python and torch."""

from __future__ import annotations

import click

from pyharness.cli.grammar.lazy_group import LazyGroup

# One module of this folder for each, with a `command`; it is imported when it is used.
VERBS = {
    "list": "the engines that were built, and which of them are in use no more",
    "build": "build the engine for one Python and its torch now, rather than when it is first needed",
    "remove": "remove engines: one, those of another pyharness, or all",
}
_EXAMPLES = (
    ("before a container is closed, or a class begins", "pyharness engine build --python .venv/bin/python"),
    ("what takes the room?", "pyharness engine list"),
)


@click.group(cls=LazyGroup, package=__name__, summaries=VERBS, examples=_EXAMPLES)
def command() -> None:
    """Keep the native part that watches torch: trace, run --nan, places op: and node:, pyharness.record need it.

    It fits one Python and one build of torch, and is built from our sources where it is first needed.
    """

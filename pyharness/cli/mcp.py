"""``pyharness mcp``: the debugger for agents, by the Model Context Protocol."""

from __future__ import annotations

import sys

import click

from pyharness.cli.grammar import completers
from pyharness.cli.grammar.verb import Verb
from pyharness.cli.kit import output
from pyharness.host.missing import check_named_from
from pyharness.model.errors import HarnessError, UsageError

_EPILOG = """It speaks MCP on standard input and output, as agents start a server; nothing listens. `pyharness init
--agent` writes the client's configuration. Scripts, core files and folders must lie in a root: those of --root, else
those that the client names, else this folder. Programs that were started end with the client, unless it has detached
them. docs/agents.md has the tools."""
_EXAMPLES = (
    ("as an agent starts it, in the project's folder", "pyharness mcp"),
    ("for programs in these folders only", "pyharness mcp --root ~/project --root /data/scripts"),
)
_STATUSES = (("0", "the client has left"), ("1", "the package mcp is not installed"))


@click.command(cls=Verb, epilog=_EPILOG, examples=_EXAMPLES, statuses=_STATUSES)
@click.option(
    "--root",
    "roots",
    multiple=True,
    metavar="FOLDER",
    help="Scripts and folders lie in here; may be repeated.",
    shell_complete=completers.files,
)
def command(roots: tuple[str, ...]) -> int:
    """Serve the debugger to an agent: nine tools over what the other verbs do."""
    from pathlib import Path

    for root in roots:
        check_named_from(Path(root))
        if not Path(root).is_dir():
            raise UsageError(f"--root {root} is no folder.", "Name the project's folder.")
    try:
        from pyharness.mcp.serve import run
    except ImportError as error:
        raise HarnessError(
            f"The SDK of the protocol, mcp 2 or newer, is not installed ({error}).",
            "pip install 'pyharness-debugger[mcp]'",
        ) from error
    if sys.stdin is not None and sys.stdin.isatty():
        output.note("this speaks MCP with an agent, not with a person; Ctrl-C ends it, docs/agents.md has more.")
    run(roots)
    return 0

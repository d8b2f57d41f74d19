"""docs/reference/cli.md: every verb, its options and what its --help says, from the commands themselves."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import click
from markdown import cell, code, fenced, prose, table

from pyharness.cli import command as root

if TYPE_CHECKING:
    from collections.abc import Iterator


def page() -> Iterator[str]:
    """The page."""
    yield from (
        "# Command line",
        "",
        "What `pyharness VERB --help` says, in one place. JSON, exit statuses side by side and completion are in",
        "[The command line](../cli.md).",
        "",
    )
    yield from _command(root, click.Context(root, info_name="pyharness", terminal_width=100), 2)


def _command(command: click.Command, ctx: click.Context, level: int) -> Iterator[str]:
    yield from (f"{'#' * level} {ctx.command_path}", "")
    pieces = " ".join(command.collect_usage_pieces(ctx))
    yield from fenced([f"{ctx.command_path} {pieces}"])
    yield from prose(inspect.cleandoc((command.help or "").partition("\f")[0]))
    yield from table(("option", "says"), _options(command, ctx))
    if command.epilog:
        yield from prose(inspect.cleandoc(command.epilog))
    yield from _taught(command)
    if isinstance(command, click.Group):
        for name in command.list_commands(ctx):
            below = command.get_command(ctx, name)
            if below is not None and not below.hidden:
                inner = click.Context(below, info_name=name, parent=ctx, terminal_width=100)
                yield from _command(below, inner, min(level + 1, 4))


def _taught(command: click.Command) -> Iterator[str]:
    """Tables, examples and exit status, which verbs of ours have."""
    for title, rows in getattr(command, "sections", ()):
        yield from table((title, "is"), [(code(form), cell(means)) for form, means in rows])
    examples = getattr(command, "examples", ())
    if examples:
        yield from fenced([line for does, typed in examples for line in (f"# {does}", typed)])
    yield from table(
        ("exit status", "when"), [(cell(status), cell(when)) for status, when in getattr(command, "statuses", ())]
    )


def _options(command: click.Command, ctx: click.Context) -> Iterator[tuple[str, str]]:
    for parameter in command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if record is not None and record[1] and "--help" not in parameter.opts:
            yield code(" ".join(record[0].split())), cell(record[1])

"""A group of commands of which each lies in a module of its own, imported when it is used: help answers at once."""

from __future__ import annotations

import importlib
from typing import Any

import click

from pyharness.model.errors import UsageError, nearest


class LazyGroup(click.Group):
    """``summaries``: each command and what it does, in order; ``package``: where its module, with a ``command``, is."""

    def __init__(self, *args: Any, package: str = "", summaries: dict[str, str] | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self._package = package
        self._summaries = summaries or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names, in order."""
        del ctx
        return list(self._summaries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one of them; ``UsageError`` for a name that is none."""
        if cmd_name not in self._summaries:
            advice = nearest(cmd_name, self._summaries) or f"See {ctx.command_path} --help."
            raise UsageError(f"There is no verb {cmd_name!r}.", advice)
        command: click.Command = importlib.import_module(f"{self._package}.{cmd_name.replace('-', '_')}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """A line for each, without importing it."""
        del ctx
        with formatter.section("Verbs"):
            formatter.write_dl(list(self._summaries.items()))

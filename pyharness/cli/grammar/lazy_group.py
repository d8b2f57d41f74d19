"""A group of verbs of which each lies in a module of its own, imported when it is used: help answers at once."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import click

from pyharness.cli.grammar.helping import Helping
from pyharness.host.exit_status import ExitStatus
from pyharness.model.errors import UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from click.shell_completion import CompletionItem


class LazyGroup(Helping, click.Group):
    """``summaries``: each verb and what it does, in order; ``package``: where its module, with a ``command``, is.

    ``examples``: what each does, and the command line.
    """

    def __init__(
        self,
        *args: Any,
        package: str = "",
        summaries: dict[str, str] | None = None,
        examples: Sequence[tuple[str, str]] = (),
        **options: Any,
    ) -> None:
        settings = {"help_option_names": ["-h", "--help"]}
        options = {"no_args_is_help": False, "subcommand_metavar": "VERB ...", "context_settings": settings, **options}
        super().__init__(*args, **options)
        self.examples = tuple(examples)
        self._package = package
        self._summaries = summaries or {}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as click does; a command line without a verb prints the help."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help(), err=True)
            ctx.exit(ExitStatus.USAGE)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the verbs, in order."""
        del ctx
        return list(self._summaries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one of them; ``UsageError`` for a name that is none."""
        if cmd_name not in self._summaries:
            if ctx.resilient_parsing:  # a shell asks what could come here
                return None
            advice = f"{nearest(cmd_name, self._summaries)} See {ctx.command_path} --help.".strip()
            raise UsageError(f"There is no verb {cmd_name!r}.", advice)
        command: click.Command = importlib.import_module(f"{self._package}.{cmd_name.replace('-', '_')}").command
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Verbs and options, without importing the verbs."""
        from click.shell_completion import CompletionItem

        verbs = [
            CompletionItem(name, help=does) for name, does in self._summaries.items() if name.startswith(incomplete)
        ]
        return verbs + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """A line for each, without importing it."""
        del ctx
        with formatter.section("Verbs"):
            formatter.write_dl(list(self._summaries.items()))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Examples, and where there is more."""
        if self.examples:
            from pyharness.cli.grammar.examples import write_examples

            with formatter.section("Examples"):
                write_examples(formatter, self.examples)
        super().format_epilog(ctx, formatter)

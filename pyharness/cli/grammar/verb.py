"""A verb: a command whose help teaches by examples and says its exit status, and whose errors are one voice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pyharness.cli.grammar.examples import write_examples
from pyharness.cli.grammar.helping import Helping
from pyharness.cli.grammar.wrong_words import usage_error
from pyharness.cli.kit import output
from pyharness.model.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Rows = Sequence[tuple[str, str]]

_STATUSES = (("2", "the command line is wrong: nothing was started"), ("130, 143", "Ctrl-C, SIGTERM"))


class Verb(Helping):
    """``click.Command`` with sections.

    ``examples``: what it does, and the command line. ``statuses``: exit status and when; those that all verbs share
    follow. ``sections``: tables before these. ``runs``: it runs a program, whose own options come behind ``--``.
    ``failure``: what ``--json`` prints of an error, where that is more than the error.
    """

    def __init__(
        self,
        *args: Any,
        examples: Rows = (),
        statuses: Rows = (),
        sections: Sequence[tuple[str, Rows]] = (),
        runs: bool = False,
        failure: Callable[[HarnessError], dict[str, Any]] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self.examples = tuple(examples)
        self.statuses = (*statuses, *_STATUSES)
        self.sections = tuple(sections)
        self._runs = runs
        self._failure = failure or as_json

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Parse as click does; a wrong command line is a ``UsageError``, in JSON too where that was asked for."""
        wants_json = "--json" in self.own_words(list(args))
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            path = " ".join(filter(None, (parent.command_path if parent else "", info_name)))
            wrong = usage_error(error, path, behind_dashes=self._runs)
            if wants_json:
                output.write_json(self._failure(wrong))
            raise wrong from error

    def invoke(self, ctx: click.Context) -> Any:
        """Run as click does; with ``--json`` an error is an object on stdout, too."""
        try:
            return self.run(ctx)
        except HarnessError as error:
            if ctx.params.get("as_json"):
                output.write_json(self._failure(error))
            raise

    def run(self, ctx: click.Context) -> Any:
        """Run as click does."""
        return super().invoke(ctx)

    def own_words(self, args: list[str]) -> list[str]:
        """The words of the command line that are ours, and not the program's."""
        return args[: args.index("--")] if "--" in args else args

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What else there is to say, then tables, examples and the exit status."""
        super().format_epilog(ctx, formatter)
        for title, rows in self.sections:
            with formatter.section(title):
                formatter.write_dl(rows)
        if self.examples:
            with formatter.section("Examples"):
                write_examples(formatter, self.examples)
        with formatter.section("Exit status"):
            formatter.write_dl(self.statuses)


def as_json(error: HarnessError) -> dict[str, Any]:
    """``{"error": {"message", "remedy"}}``."""
    return {"error": {"message": error.message, "remedy": error.remedy}}

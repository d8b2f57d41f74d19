"""``--help`` printed where all else is printed: a full disk is said, and a reader that leaves is no error."""

from __future__ import annotations

import click


class Helping(click.Command):
    """``click.Command`` whose help goes the way of all output; click's own takes a full disk for a fault of ours."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Click's option, which prints as we print."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.callback = _show
        return option


def _show(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:  # noqa: FBT001  (click calls it)
    if wanted and not ctx.resilient_parsing:
        from pyharness.cli.kit import output

        output.write(ctx.get_help())
        ctx.exit()

"""A command whose options mean something in the order in which they are typed."""

from __future__ import annotations

import click

from pyharness.model.errors import UsageError, nearest

ORDER = "pyharness.order"


class OrderedCommand(click.Command):
    """Leaves in ``ctx.meta[ORDER]`` each option's name and value, as often and in the order as they were typed."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does, and once more for the order, which click gives away."""
        typed = list(args)
        try:
            rest = super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise self._unknown(error.option_name) from error
        values, _, order = self.make_parser(ctx).parse_args(typed)
        waiting = {name: iter(given) for name, given in values.items() if isinstance(given, list)}
        ctx.meta[ORDER] = [(param.name, next(waiting.get(param.name or "", iter(())), None)) for param in order]
        return rest

    def _unknown(self, option: str) -> UsageError:
        known = [name for param in self.params for name in param.opts]
        behind = f"Options of the program itself come behind --, as in SCRIPT -- {option}."
        return UsageError(f"There is no option {option}.", f"{nearest(option, known)} {behind}".strip())

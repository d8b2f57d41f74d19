"""A command whose options mean something in the order in which they are typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyharness.cli.grammar.verb import Verb
from pyharness.model.errors import UsageError

if TYPE_CHECKING:
    import click

_ENDS = "`--` ends the options; what follows is the program's."
ORDER = "pyharness.order"


class OrderedCommand(Verb):
    """Leaves in ``ctx.meta[ORDER]`` each option's name and value, as often and in the order as they were typed."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as click does, and once more for the order of the options, which click gives away."""
        typed = list(args)
        rest = super().parse_args(ctx, args)
        values, _, order = self.make_parser(ctx).parse_args(typed)
        waiting = {name: iter(given) for name, given in values.items() if isinstance(given, list)}
        found = [(param, next(waiting.get(param.name or "", iter(())), None)) for param in order]
        for param, value in found:
            if "--" in (value if isinstance(value, tuple) else [value]):
                raise UsageError(f"{param.opts[0]} {param.metavar}: a value is missing.", _ENDS)
        ctx.meta[ORDER] = [(param.name, value) for param, value in found]
        return rest

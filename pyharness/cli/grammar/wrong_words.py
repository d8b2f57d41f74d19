"""What click says of words that cannot be meant, in the voice of our own errors: what is wrong, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pyharness.model.errors import UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator


def usage_error(error: click.UsageError, path: str = "pyharness", *, behind_dashes: bool = False) -> UsageError:
    """A ``UsageError`` of click's as one sentence with its remedy.

    ``path``: the command, where the error does not know. ``behind_dashes``: the command runs a program, whose own
    options come behind ``--``.
    """
    see = f"See {error.ctx.command_path if error.ctx else path} --help."
    if isinstance(error, click.NoSuchOption):
        near = nearest(error.option_name, _options(error.ctx))
        behind = f"Options of the program itself come behind --, as in SCRIPT -- {error.option_name}."
        return UsageError(
            f"There is no option {error.option_name}.", " ".join(filter(None, (near, behind if behind_dashes else see)))
        )
    if isinstance(error, click.MissingParameter) and error.param is not None:
        return UsageError(f"{_called(error.param, error.ctx)} is missing.", f"{_usage(error.ctx)}. {see}")
    if isinstance(error, click.BadParameter) and error.param is not None:
        return UsageError(f"{_called(error.param, error.ctx)}: {_sentence(error.message)}", see)
    return UsageError(_sentence(error.format_message()), see)


def _options(ctx: click.Context | None) -> Iterator[str]:
    for param in ctx.command.get_params(ctx) if ctx else ():
        if isinstance(param, click.Option) and not param.hidden:
            yield from (*param.opts, *param.secondary_opts)


def _called(param: click.Parameter, ctx: click.Context | None) -> str:
    if isinstance(param, click.Option):
        return max(param.opts, key=len)
    return param.make_metavar(ctx).strip("[]") if ctx else (param.name or "").upper()


def _usage(ctx: click.Context | None) -> str:
    return " ".join([ctx.command_path, *ctx.command.collect_usage_pieces(ctx)]) if ctx else "pyharness VERB"


def _sentence(text: str) -> str:
    text = text.strip().replace("is not a valid integer range", "is no whole number")
    return text if text.endswith((".", "?")) else f"{text}."

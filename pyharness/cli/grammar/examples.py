"""The part of a verb's help that shows how it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import click


def write_examples(formatter: click.HelpFormatter, examples: Sequence[tuple[str, str]]) -> None:
    """What each does, and below it the command line, which is never broken, so that it can be copied."""
    indent = " " * formatter.current_indent
    for does, line in examples:
        formatter.write(f"{indent}# {does}\n{indent}$ {line}\n")

"""``pyharness completion SHELL``: what makes a shell complete verbs, options, running programs, places and files."""

from __future__ import annotations

import os
from pathlib import Path

import click

from pyharness.cli.grammar import shells
from pyharness.cli.grammar.verb import Verb
from pyharness.cli.kit import output
from pyharness.model.errors import UsageError

_EXAMPLES = (
    ("for bash, from now on", "pyharness completion bash > ~/.local/share/bash-completion/completions/pyharness"),
    ("for zsh", "pyharness completion zsh > ~/.zfunc/_pyharness"),
    ("for fish", "pyharness completion fish > ~/.config/fish/completions/pyharness.fish"),
    ("in this bash only", 'eval "$(pyharness completion bash)"'),
)
_EPILOG = """The folder must be there; for zsh on fpath before compinit is called: `fpath+=~/.zfunc` in ~/.zshrc. The
shell then asks `pyharness` itself for each word, which imports no torch."""


@click.command(cls=Verb, epilog=_EPILOG, examples=_EXAMPLES, statuses=(("0", "printed"),))
@click.argument("shell", metavar="[bash|zsh|fish]", required=False, type=click.Choice(shells.SHELLS))
def command(shell: str | None) -> None:
    """Print what makes a shell complete pyharness: verbs, options, running programs, places, session files.

    Without an argument it is for the shell that $SHELL names.
    """
    from pyharness import cli

    text = shells.script(cli.command, shell or _own())
    if not text:
        raise UsageError("Which shell?", f"pyharness completion {'|'.join(shells.SHELLS)}.")
    output.write(text)


def _own() -> str:
    name = Path(os.environ.get("SHELL", "")).name
    return name if name in shells.SHELLS else ""

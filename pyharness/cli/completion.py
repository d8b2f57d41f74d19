"""``pyharness completion SHELL``: what makes a shell complete verbs, options, running programs, places and files."""

from __future__ import annotations

import os
from pathlib import Path

import click

from pyharness.cli import output
from pyharness.cli.verb import Verb
from pyharness.model.errors import UsageError

SHELLS = ("bash", "zsh", "fish")
_VARIABLE = "_PYHARNESS_COMPLETE"
_EXAMPLES = (
    ("for bash, from now on", "pyharness completion bash > ~/.local/share/bash-completion/completions/pyharness"),
    ("for zsh", "pyharness completion zsh > ~/.zfunc/_pyharness"),
    ("for fish", "pyharness completion fish > ~/.config/fish/completions/pyharness.fish"),
    ("in this bash only", 'eval "$(pyharness completion bash)"'),
)
_EPILOG = """The folder must be there; for zsh on fpath before compinit is called: `fpath+=~/.zfunc` in ~/.zshrc. The
shell then asks `pyharness` itself for each word, which imports no torch."""


@click.command(cls=Verb, epilog=_EPILOG, examples=_EXAMPLES, statuses=(("0", "printed"),))
@click.argument("shell", metavar="[bash|zsh|fish]", required=False, type=click.Choice(SHELLS))
def command(shell: str | None) -> None:
    """Print what makes a shell complete pyharness: verbs, options, running programs, places, session files.

    Without an argument it is for the shell that $SHELL names.
    """
    from click import shell_completion

    from pyharness import cli
    from pyharness.cli import bash_completion

    bash_completion.register()
    completion = shell_completion.get_completion_class(shell or _own())
    if completion is None:
        raise UsageError("Which shell?", f"pyharness completion {'|'.join(SHELLS)}.")
    output.write(completion(cli.command, {}, "pyharness", _VARIABLE).source().strip())


def _own() -> str:
    name = Path(os.environ.get("SHELL", "")).name
    return name if name in SHELLS else ""

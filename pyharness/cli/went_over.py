"""The command line in another environment than the one that it was typed to (``cli/grammar/torch_verb.py``)."""

from __future__ import annotations

from pyharness.cli import main as command_line


def main() -> None:
    """The command line, which stays here."""
    command_line(went_over=True)

"""How a project's files run ``pyharness``: whatever lies in the current folder, nothing of it is run."""

from __future__ import annotations

# `python -m pyharness` would import a ``json.py`` of the folder that it is run in.
CODE = "import sys; sys.path[:] = filter(None, sys.path); from pyharness.cli import main; main()"

APART = "PYHARNESS_OUTPUT_APART"
"""A variable for a verb that starts a program: with it the program's output goes to stderr, apart from the answer."""


def own_command(python: str, *arguments: str) -> list[str]:
    """The words of ``pyharness ARGUMENTS``, run by ``python``."""
    return [python, "-c", CODE, *arguments]

"""The interpreter of the program that was typed."""

from __future__ import annotations

from pyharness.cli.kit import output
from pyharness.host.interpreters import interpreter_for


def python_of(named: str, folder: str | None, script: str) -> str:
    """The interpreter that was ``named``, or that of the program's environment; empty for this one.

    A person is told which was chosen, and why, where it is not the one that runs pyharness.
    """
    if named or (found := interpreter_for(folder, script)) is None:
        return named
    output.note(found.told("--python"))
    return found.path

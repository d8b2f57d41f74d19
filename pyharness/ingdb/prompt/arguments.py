"""The program's command line, as gdb knows it."""

from __future__ import annotations

import shlex
from pathlib import Path

from pyharness.ingdb import console


def program_arguments() -> str:
    """What ``show args`` shows; ``gdb.parameter`` does not know what came with ``gdb --args``."""
    shown = console.run("show args")
    return shown.partition('"')[2].rpartition('"')[0]


def scripts() -> list[str]:
    """The Python files among the program's arguments."""
    return [word for word in shlex.split(program_arguments()) if word.endswith(".py") and Path(word).is_file()]

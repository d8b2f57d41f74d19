"""ph-program: a ready-made script runs on its example, or on the program that gdb was given."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import gdb

from pyharness.host.missing import check_script
from pyharness.ingdb import console
from pyharness.ingdb.prompt.registry import command
from pyharness.model.errors import UsageError

_SHELLS = frozenset("~$*?[]{}`'\"\\;&|<>()")


@command("ph-program", gdb.COMMAND_FILES)
def ph_program(argument: str) -> None:
    """Debug a Python script: ph-program SCRIPT [ARGS]; leaves a program alone that gdb was given with --args.

    The interpreter is $PYHARNESS_PYTHON, else .venv/bin/python here, else python3.
    """
    # The interpreter may ship a gdb script of its own: it needs symbols that are mostly not there.
    gdb.execute("set auto-load python-scripts off")
    space = gdb.current_progspace()
    if space is not None and space.filename is not None:
        return
    if not argument:
        raise UsageError("Which script?", "Write ph-program SCRIPT [ARGS].")
    _check(argument.split(maxsplit=1)[0])
    console.run(f"file {interpreter()}")
    gdb.execute(f"set args {argument}")


def _check(script: str) -> None:
    """``UsageError`` where there is no such script; a word that a shell makes another one of is the shell's."""
    if script[0] != "-" and not set(script) & _SHELLS:
        check_script(script)


def interpreter() -> str:
    """Path of the Python to debug."""
    named = os.environ.get("PYHARNESS_PYTHON")
    if named and shutil.which(named) is None:
        raise UsageError(
            f"PYHARNESS_PYTHON is {named!r}, which cannot be run.", "Set it to the Python that runs your program."
        )
    local = Path(".venv/bin/python")
    found = named or (str(local.absolute()) if local.exists() else shutil.which("python3"))
    if found is None:
        raise UsageError("There is no Python here.", "Set PYHARNESS_PYTHON to the one that runs your program.")
    return found

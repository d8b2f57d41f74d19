"""A person's own gdb scripts, such as pretty-printers: each gdb of a session reads them before it sees the program."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.gdbmi.client import GdbError
from pyharness.model.errors import HarnessError, UsageError
from pyharness.protocol.mi import ReadScript

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyharness.debugger.native.side import NativeSide

VARIABLE = "PYHARNESS_GDB_SCRIPTS"
"""The environment variable that names them, with ``:`` between two."""


def existing(script: str, named_by: str, folder: str | None = None) -> str:
    """The absolute path of a script that ``named_by`` names, seen from ``folder``; raises ``UsageError`` for none."""
    path = Path(folder or "", Path(script).expanduser()).absolute()
    if not path.is_file():
        raise UsageError(f"{path}, which {named_by} names, is no file.", "Name gdb scripts, or Python files for gdb.")
    return str(path)


def read_scripts(native: NativeSide, scripts: Iterable[str]) -> None:
    """Have gdb read those of the environment variable, then ``scripts``, which are absolute paths.

    Raises:
        HarnessError: One is not there, or fails.

    """
    of_environment = filter(None, os.environ.get(VARIABLE, "").split(os.pathsep))
    for script in (*(existing(each, f"${VARIABLE}") for each in of_environment), *scripts):
        _read(native, script)


def _read(native: NativeSide, script: str) -> None:
    try:
        native.ask(ReadScript(script))
    except GdbError as error:
        remedy = f"Mend it (`gdb -nx -x {script}` runs it alone), or take it from ${VARIABLE} or `gdbScripts`."
        said = " ".join(error.message.split()).replace("Error in sourced command file: ", "")
        said = said.replace(f"{script}:", "line ", 1)
        raise HarnessError(f"gdb cannot read {script}: {said}", remedy) from error

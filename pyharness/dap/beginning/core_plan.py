"""A launch that opens a core file, read from its arguments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pyharness.dap.beginning.scripts import scripts_of
from pyharness.debugger.core.shell import CoreFile
from pyharness.model.errors import UsageError

if TYPE_CHECKING:
    from pyharness.dap.arguments import Arguments

_OF_PROGRAMS = ("module", "args", "stopOnEntry")
"""Not ``env`` and ``python``: an editor adds them to all that it launches."""


def core_of(arguments: Arguments) -> CoreFile | None:
    """The core file that a launch names; ``UsageError`` where it asks for a program to be run, too."""
    name = arguments.text("coreFile", "")
    if not name:
        return None
    both = next((other for other in _OF_PROGRAMS if arguments.values.get(other)), "")
    if both:
        raise UsageError(f"launch: `coreFile` runs nothing: `{both}` does not go with it.", "Leave one of them out.")
    folder = Path(arguments.text("cwd", "") or ".")
    program = arguments.text("program", "")
    return CoreFile(str(folder / name), str(folder / program) if program else "", scripts_of(arguments))

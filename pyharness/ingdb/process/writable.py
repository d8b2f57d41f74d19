"""Whether what gdb looks at can be changed: a process can, a core file cannot."""

from __future__ import annotations

import gdb

from pyharness.ingdb.process import libraries
from pyharness.model.errors import HarnessError


def need_a_process() -> None:
    """Raise ``HarnessError`` where the selected inferior is no process that this gdb traces."""
    if not libraries.is_traced(gdb.selected_inferior().pid):
        raise HarnessError("A core file cannot be changed.", "Debug the program itself to set its variables.")
